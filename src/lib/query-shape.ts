/**
 * Returns a raw query without the values of its parameters, except of those in `kept` and of names that are encoded. Few
 * queries of a service differ in it, so what depends only on it can be remembered.
 */
export function queryShape(query: string, kept: ReadonlySet<string>): string {
  let shape = '';
  for (let from = 0; ;) {
    const end = query.indexOf('&', from);
    const part = query.slice(from, end < 0 ? query.length : end);
    const equals = part.indexOf('=');
    const name = equals < 0 ? part : part.slice(0, equals);
    shape += kept.has(name) || name.includes('%') ? part : name;
    if (end < 0) return shape;
    shape += '&';
    from = end + 1;
  }
}
