/** Header fields in order, as name and value; names keep the case they were written in. */
export type HeaderPairs = readonly (readonly [name: string, value: string])[];

/** The first value of a field, or undefined; names are compared without case. */
export function headerValue(headers: HeaderPairs, name: string): string | undefined {
  const wanted = name.toLowerCase();
  for (const [key, value] of headers) if (key.length === wanted.length && key.toLowerCase() === wanted) return value;
  return undefined;
}
