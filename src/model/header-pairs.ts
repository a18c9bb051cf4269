/** Header fields in order, as name and value; names keep the case they were written in. */
export type HeaderPairs = readonly (readonly [name: string, value: string])[];

/** The first value of a field, or undefined; names are compared without case. */
export function headerValue(headers: HeaderPairs, name: string): string | undefined {
  const wanted = name.toLowerCase();
  for (let at = 0; at < headers.length; at += 1) {
    const field = headers[at];
    if (field?.[0].length === wanted.length && field[0].toLowerCase() === wanted) return field[1];
  }
  return undefined;
}
