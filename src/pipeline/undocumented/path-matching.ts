import { trimEndOf } from '../../lib/trim-end.ts';

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

const ENCODED_CHARACTER = /%(?:2[0-9a-e]|[3-6][0-9a-f]|7[0-9a-e])/gi;
const PATH_PARAMETER = /;|%3b/i;

/**
 * Returns the simplest path that a server could consider equivalent to a path, so that rules for one path also apply to
 * its other spellings. Decodes percent-encoded characters, and removes path parameters and empty segments, which Tomcat
 * ignores; a final slash, which some frameworks ignore; and dots and spaces at the end of a segment, which IIS ignores.
 */
export function plainPath(path: string): string {
  const segments = path.split('/').map((segment) => {
    const [name = ''] = segment.split(PATH_PARAMETER, 1);
    const decoded = name.replaceAll(ENCODED_CHARACTER, (text) =>
      String.fromCharCode(Number.parseInt(text.slice(1), 16)),
    );
    return trimEndOf(decoded, '. ');
  });
  return `/${segments.filter((segment) => segment !== '').join('/')}`;
}
