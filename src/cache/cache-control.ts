import { type HeaderPairs } from '../model/header-pairs.ts';

/** Directives by lower-case name; those without an argument map to an empty text. */
export type CacheDirectives = ReadonlyMap<string, readonly string[]>;

const DIRECTIVE = /[\s,]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]*)))?/y;

/** Reads every `Cache-Control` field of a message (RFC 9111, 5.2); what cannot be read ends the reading. */
export function cacheDirectives(headers: HeaderPairs): CacheDirectives {
  const directives = new Map<string, string[]>();
  for (const [name, value] of headers) {
    if (name.toLowerCase() !== 'cache-control') continue;
    DIRECTIVE.lastIndex = 0;
    for (let found = DIRECTIVE.exec(value); found !== null; found = DIRECTIVE.exec(value)) {
      const directive = (found[1] ?? '').toLowerCase();
      const values = directives.get(directive) ?? [];
      values.push(found[2] ?? found[3] ?? '');
      directives.set(directive, values);
    }
  }
  return directives;
}

/** The seconds that a directive gives: the smallest of several; 0 when unreadable (RFC 9111, 4.2.1); undefined when absent. */
export function directiveSeconds(directives: CacheDirectives, name: string): number | undefined {
  const values = directives.get(name);
  if (values === undefined) return undefined;
  return Math.min(...values.map((value) => (/^[0-9]{1,10}$/.test(value) ? Number(value) : 0)));
}
