/** The values of a query as plain texts; a repeated name counts with its first, longer texts are cut. */
export function queryText(query: Readonly<Record<string, unknown>>, name: string, maxLength = 200): string {
  const value = query[name];
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first.slice(0, maxLength) : '';
}

/** A whole number of a query within its bounds; the other value where there is none. */
export function queryNumber(
  query: Readonly<Record<string, unknown>>,
  name: string,
  { from, to, other }: { readonly from: number; readonly to: number; readonly other: number },
): number {
  const text = queryText(query, name);
  return /^\d{1,9}$/.test(text) ? Math.min(to, Math.max(from, Number(text))) : other;
}
