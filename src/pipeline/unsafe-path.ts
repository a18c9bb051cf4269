const SUSPICIOUS = /[%\\;#]|\/\.|[^\x21-\x7e]/;
const ENCODED_SEPARATOR = /%(?:2f|5c)/i;
const NUL = /%00/;

/**
 * Returns the reason why a raw target is refused in every mode, or undefined if it is safe. Unsafe targets contain dot
 * segments (including encoded ones and those written with a backslash or a Tomcat path parameter), encoded separators,
 * NUL, or bytes that are not allowed in a target.
 */
export function unsafeTargetReason(path: string, query: string | undefined): string | undefined {
  if (query !== undefined && (NUL.test(query) || query.includes('#') || /[^\x21-\x7e\x80-\xff]/.test(query)))
    return 'the query holds a NUL or a character that must be percent-encoded';
  if (!path.startsWith('/')) return 'the path must start with a slash';
  if (!SUSPICIOUS.test(path)) return undefined;
  if (path.includes('#')) return 'a fragment cannot be sent in a request target';
  if (NUL.test(path)) return 'the path holds a NUL';
  if (ENCODED_SEPARATOR.test(path)) return 'the path holds an encoded slash or backslash';
  if (path.split(/[/\\]/).some(isDotSegment)) return 'the path holds a dot segment';
  return undefined;
}

/** Tomcat treats `..;x` as `..`, so the text after a semicolon is ignored. */
function isDotSegment(segment: string): boolean {
  const name = segment.replace(/(?:;|%3b).*$/i, '').replaceAll(/%2e/gi, '.');
  return name === '.' || name === '..';
}
