/** One `name=value` of a query, decoded; undefined where the percent-encoding is broken. */
export interface QueryPair {
  readonly name: string | undefined;
  readonly value: string | undefined;
}

/** Splits a raw query and decodes `+` and `%XX`; at most `max` pairs are read, the rest is told by `more`. */
export function toQueryPairs(rawQuery: string, max: number): { pairs: readonly QueryPair[]; more: boolean } {
  const parts = rawQuery.split('&', max + 1).filter((part) => part !== '');
  const pairs = parts.slice(0, max).map((part) => {
    const at = part.indexOf('=');
    const [name, value] = at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
    return { name: decodeText(name.replaceAll('+', ' ')), value: decodeText(value.replaceAll('+', ' ')) };
  });
  return { pairs, more: rawQuery.split('&', max + 1).length > max };
}

/** Decodes `%XX` as UTF-8; undefined where it is no encoding, no UTF-8 or hides a NUL. */
export function decodeText(raw: string): string | undefined {
  if (!raw.includes('%')) return raw;
  try {
    const text = decodeURIComponent(raw);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
