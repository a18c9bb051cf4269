/** Returns the name that a JSON key matches, or undefined if it matches none. */
type NameMatcher = (bytes: Buffer, start: number, end: number) => string | undefined;

/**
 * Creates a matcher for the given names. The matcher receives the position of the bytes between a key's quotes. These
 * bytes may contain escapes.
 */
export function createNameMatcher(names: ReadonlySet<string>): NameMatcher {
  const wanted = [...names].map((name) => ({ name, bytes: Buffer.from(name) }));
  const shortest = Math.min(...wanted.map(({ bytes }) => bytes.length));
  return (bytes, start, end) => {
    if (end - start < shortest) return undefined;
    for (const { name, bytes: plain } of wanted) {
      if (plain.length === end - start && plain.compare(bytes, start, end) === 0) return name;
    }
    if (!hasEscape(bytes, start, end)) return undefined;
    const decoded = JSON.parse(`"${bytes.toString('utf8', start, end)}"`) as string;
    return names.has(decoded) ? decoded : undefined;
  };
}

function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] === 0x5c) return true;
  return false;
}
