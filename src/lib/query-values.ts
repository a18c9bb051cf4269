/**
 * Returns a query value, truncated to `maxLength`. If the name is repeated, returns its first value; if it is absent,
 * returns an empty string.
 */
export function queryText(query: Readonly<Record<string, unknown>>, name: string, maxLength = 200): string {
  const value = query[name];
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first.slice(0, maxLength) : '';
}

/** Returns an integer from the query, clamped to the bounds. Returns `fallback` if the value is not an integer. */
export function queryNumber(
  query: Readonly<Record<string, unknown>>,
  name: string,
  { from, to, fallback }: { readonly from: number; readonly to: number; readonly fallback: number },
): number {
  const text = queryText(query, name);
  return /^\d{1,9}$/.test(text) ? Math.min(to, Math.max(from, Number(text))) : fallback;
}
