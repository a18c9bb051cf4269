/** Headers in order, as name-value pairs. Names keep their original case. */
export type HeaderPairs = readonly (readonly [name: string, value: string])[];

/** Converts a list of alternating names and values to pairs. */
export function headerPairs(raw: readonly string[]): HeaderPairs {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ''] as const] : []));
}

/** Returns the first value of a header, or undefined if the header is absent. Names are case-insensitive. */
export function headerValue(headers: HeaderPairs, name: string): string | undefined {
  const wanted = name.toLowerCase();
  for (let at = 0; at < headers.length; at += 1) {
    const pair = headers[at];
    if (pair?.[0].length === wanted.length && pair[0].toLowerCase() === wanted) return pair[1];
  }
  return undefined;
}

/** Returns all values of a header. Names are case-insensitive. */
export function headerValues(headers: HeaderPairs, name: string): readonly string[] {
  return headers.filter(([key]) => key.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}

/**
 * A placeholder for the media type of a message with several `Content-Type` headers that specify different media types.
 */
export const SEVERAL_TYPES = 'several';

/**
 * Returns the value of `Content-Type`, or undefined if there is none. The header may occur only once (RFC 9110 §8.3).
 * If there are several with different media types, returns `SEVERAL_TYPES`, because recipients may choose different
 * ones.
 */
export function contentType(headers: HeaderPairs): string | undefined {
  let first: string | undefined;
  for (let at = 0; at < headers.length; at += 1) {
    const pair = headers[at];
    if (pair?.[0].length !== CONTENT_TYPE.length || pair[0].toLowerCase() !== CONTENT_TYPE) continue;
    if (first === undefined) first = pair[1];
    else if (mediaTypeOf(first) !== mediaTypeOf(pair[1])) return SEVERAL_TYPES;
  }
  return first;
}

const CONTENT_TYPE = 'content-type';

/** Returns the media type in a `Content-Type` value, in lower case and without parameters. */
export function mediaTypeOf(value: string): string {
  return (value.split(';', 1)[0] ?? '').trim().toLowerCase();
}
