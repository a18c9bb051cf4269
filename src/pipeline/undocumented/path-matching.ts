/** Returns whether a raw path matches a pattern. */
export type PathPattern = (path: string) => boolean;

/**
 * Compiles a path pattern. `{name}` and `*` match one non-empty segment or part of one. A trailing `/**` matches
 * everything below the path. All other text must match exactly, including case.
 */
export function compilePathPattern(pattern: string): PathPattern {
  const deep = pattern.endsWith('/**');
  const body = deep ? pattern.slice(0, -3) : pattern;
  const source = body
    .split(/(\{\w+\}|\*)/)
    .map((piece) => (/^(?:\{\w+\}|\*)$/.test(piece) ? '[^/]+' : RegExp.escape(piece)))
    .join('');
  const expression = new RegExp(`^${source}${deep ? '/.+' : ''}$`);
  return (path) => expression.test(path);
}

const ENCODED_CHARACTER = /%(?:2[0-9a-e]|[3-6][0-9a-f]|7[0-9a-e])/gi;
const PATH_PARAMETER = /(?:;|%3b).*$/i;
const FINAL_DOTS_AND_SPACES = /[. ]+$/;

/**
 * Returns the simplest path that a server could consider equivalent to a path, so that rules for one path also apply to
 * its other spellings. Decodes percent-encoded characters, and removes path parameters and empty segments, which Tomcat
 * ignores; a final slash, which some frameworks ignore; and dots and spaces at the end of a segment, which IIS ignores.
 */
export function plainPath(path: string): string {
  const segments = path.split('/').map((segment) =>
    segment
      .replace(PATH_PARAMETER, '')
      .replaceAll(ENCODED_CHARACTER, (text) => String.fromCharCode(Number.parseInt(text.slice(1), 16)))
      .replace(FINAL_DOTS_AND_SPACES, ''),
  );
  return `/${segments.filter((segment) => segment !== '').join('/')}`;
}
