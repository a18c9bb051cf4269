/** Says whether a raw path matches a pattern. */
export type PathPattern = (path: string) => boolean;

/**
 * Compiles a path with `{name}` or `*` for one non-empty segment (or part of one) and `/**` at the end for everything
 * below; everything else is matched exactly, case included.
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
