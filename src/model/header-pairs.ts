/** Headers in order, as pairs of name and value. Names keep their original case. */
export type HeaderPairs = readonly (readonly [name: string, value: string])[];

/** Returns the first value of a header, or undefined. Names are compared case-insensitively. */
export function headerValue(headers: HeaderPairs, name: string): string | undefined {
  const wanted = name.toLowerCase();
  for (let at = 0; at < headers.length; at += 1) {
    const pair = headers[at];
    if (pair?.[0].length === wanted.length && pair[0].toLowerCase() === wanted) return pair[1];
  }
  return undefined;
}
