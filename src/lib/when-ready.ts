/** Goes on with a value at once where it is there already, so that only what has to be waited for costs a promise. */
export function whenReady<T, R>(value: T | Promise<T>, goOn: (value: T) => R): R | Promise<Awaited<R>> {
  return value instanceof Promise ? (value.then(goOn) as Promise<Awaited<R>>) : goOn(value);
}
