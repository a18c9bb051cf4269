/** Applies a function to a value, immediately if it is not a promise; only pending values cost a promise. */
export function whenReady<T, R>(value: T | Promise<T>, proceed: (value: T) => R): R | Promise<Awaited<R>> {
  return value instanceof Promise ? (value.then(proceed) as Promise<Awaited<R>>) : proceed(value);
}
