import type { HeaderPairs } from '../model/header-pairs.ts';

// RFC 9110 §7.6.1, and the fields of old proxies that mean one connection only. `Proxy-*` is matched by its prefix.
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

/** The fields that may travel on: without hop-by-hop ones and those that `Connection` names, order kept. */
export function endToEnd(headers: HeaderPairs): HeaderPairs {
  const named = namedByConnection(headers);
  return headers.filter(([name]) => {
    const key = name.toLowerCase();
    return !HOP_BY_HOP.has(key) && !key.startsWith('proxy-') && named?.has(key) !== true;
  });
}

function namedByConnection(headers: HeaderPairs): ReadonlySet<string> | undefined {
  let named: Set<string> | undefined;
  for (const [name, value] of headers) {
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue;
    named ??= new Set();
    for (const token of value.split(',')) named.add(token.trim().toLowerCase());
  }
  return named;
}

/** Names and values in turn, as Node and undici write them, as pairs. */
export function toHeaderPairs(raw: readonly (string | Buffer)[]): HeaderPairs {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) pairs.push([text(raw[index]), text(raw[index + 1])]);
  return pairs;
}

function text(part: string | Buffer | undefined): string {
  return typeof part === 'string' ? part : (part?.toString('latin1') ?? '');
}
