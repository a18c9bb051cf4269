const ENCODED_CHARACTER = /%(?:2[0-9a-e]|[3-6][0-9a-f]|7[0-9a-e])/gi;
const PATH_PARAMETER = /(?:;|%3b).*$/i;
const FINAL_DOTS_AND_SPACES = /[. ]+$/;

/**
 * Returns the simplest path that a server could read in a path, so that rules for one path also apply to other
 * spellings of it. Percent-encoded characters are decoded. Path parameters, empty segments, a final slash, and dots and
 * spaces at the end of a segment are removed: Tomcat ignores path parameters and empty segments, some frameworks a
 * final slash, and IIS final dots and spaces.
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
