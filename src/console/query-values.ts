/** Returns a query value as text: the first one of a repeated name, cut to `maxLength`; empty if absent. */
export function queryText(query: Readonly<Record<string, unknown>>, name: string, maxLength = 200): string {
  const value = query[name];
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first.slice(0, maxLength) : '';
}

/** Returns an integer from the query, limited to its bounds; `other` if there is none. */
export function queryNumber(
  query: Readonly<Record<string, unknown>>,
  name: string,
  { from, to, other }: { readonly from: number; readonly to: number; readonly other: number },
): number {
  const text = queryText(query, name);
  return /^\d{1,9}$/.test(text) ? Math.min(to, Math.max(from, Number(text))) : other;
}
