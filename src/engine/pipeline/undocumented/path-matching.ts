import { trimEndOf } from '../../../lib/trim-end.ts';

/** Returns whether a raw path matches a pattern. */
export type PathPattern = (path: string) => boolean;

/**
 * Compiles a path pattern. `{name}` and `*` match one non-empty segment or part of one. A trailing `/**` matches
 * everything below the path. All other text must match exactly, including case.
 */
export function compilePathPattern(pattern: string): PathPattern {
  const deep = pattern.endsWith('/**');
  const segments = (deep ? pattern.slice(0, -'/**'.length) : pattern).split('/').map(compileSegment);
  return (path) => {
    const given = path.split('/');
    const isRestRight = deep ? given.slice(segments.length).join('/') !== '' : given.length === segments.length;
    return isRestRight && segments.every((matches, index) => matches(given[index] ?? ''));
  };
}

/**
 * Compiles one segment of a pattern. Each text between two wildcards is searched for once, from left to right. A regular
 * expression would try all ways to divide the segment between its wildcards.
 */
function compileSegment(pattern: string): (segment: string) => boolean {
  const [first = '', ...between] = pattern.split(/\{\w+\}|\*/);
  const last = between.pop();
  if (last === undefined) return (segment) => segment === first;
  return (segment) => {
    if (!segment.startsWith(first) || !segment.endsWith(last)) return false;
    let at = first.length;
    for (const text of between) {
      const found = segment.indexOf(text, at + 1);
      if (found < 0) return false;
      at = found + text.length;
    }
    return at < segment.length - last.length;
  };
}

/**
 * Returns the simplest path that a server could consider equivalent to a path, so that rules for one path also apply to
 * its other spellings. Servers and the proxies in front of them decode percent-encoding, some of them twice or as
 * overlong UTF-8; replace full-width and similar characters; treat a backslash as a slash; ignore control characters,
 * path parameters (Tomcat), empty segments, a final slash, and dots and spaces at the end of a segment (IIS); and resolve
 * dot segments. Returns undefined for a path that is encoded too many times to be read.
 */
export function plainPath(path: string): string | undefined {
  let text = path;
  for (let round = 0; ; round += 1) {
    const decoded = decodeOnce(text);
    if (decoded === text) break;
    if (round === MAX_DECODINGS) return undefined;
    text = decoded;
  }
  // After it has decoded the path, a server may take the rest for a query or a fragment, or end the string at NUL.
  const [named = ''] = text.split(/[?#\0]/, 1);
  const segments: string[] = [];
  for (const segment of named.replaceAll('\\', '/').split('/')) {
    const [name = ''] = segment.split(';', 1);
    const visible = name.replaceAll(/[\p{Cc}\p{Cf}]/gu, '').trim();
    if (visible === '..') segments.pop();
    const plain = trimEndOf(visible, '. ');
    if (plain !== '') segments.push(plain);
  }
  return `/${segments.join('/')}`;
}

/** The number of times that a path is decoded. Real paths are encoded once. */
const MAX_DECODINGS = 4;

const PERCENT_ENCODED = /%(?:u([\da-f]{4})|([\da-f]{2}))/gi;

/** Decodes percent-encoding once, and replaces characters that a server may convert to ASCII. */
function decodeOnce(text: string): string {
  const bytes = text.replaceAll(PERCENT_ENCODED, (_, unit: string | undefined, byte: string | undefined) =>
    String.fromCharCode(Number.parseInt(unit ?? byte ?? '', 16)),
  );
  if (/^[\0-\x7f]*$/.test(bytes)) return bytes;
  return decodeUtf8(bytes)
    .normalize('NFKC')
    .replaceAll(/[\u2044\u2215]/g, '/')
    .replaceAll('\u2216', '\\');
}

/** Decodes UTF-8 in a string of bytes. Like some servers, also accepts overlong forms. All other text is left as is. */
function decodeUtf8(bytes: string): string {
  return bytes.replaceAll(/[\xc0-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf7][\x80-\xbf]{3}/g, (sequence) => {
    const [lead = 0, ...rest] = Array.from(sequence, (one) => one.charCodeAt(0));
    const code = rest.reduce((sum, one) => sum * 64 + (one & 0x3f), lead & (0x3f >> rest.length));
    return code > 0x10_ff_ff ? sequence : String.fromCodePoint(code);
  });
}
