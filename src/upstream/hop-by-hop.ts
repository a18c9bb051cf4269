import type { HeaderPairs } from '../model/header-pairs.ts';

// RFC 9110 §7.6.1, and the headers of old proxies that concern one connection only. `Proxy-*` is matched by its prefix.
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

/**
 * Returns the headers that may be forwarded, in their original order: all except the hop-by-hop ones and those that
 * `Connection` names. `Connection` cannot name `Host`, `Cache-Control` or a header that frames or describes the content
 * (RFC 9110 §7.6.1): without its length a body would be forwarded unframed, and the upstream would read it as a second
 * request.
 */
export function endToEnd(headers: HeaderPairs): HeaderPairs {
  const named = namedByConnection(headers);
  return headers.filter(([name]) => {
    const key = name.toLowerCase();
    return !HOP_BY_HOP.has(key) && !key.startsWith('proxy-') && (named?.has(key) !== true || isForEveryone(key));
  });
}

function isForEveryone(key: string): boolean {
  return key.startsWith('content-') || key === 'host' || key === 'cache-control';
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

/** Converts the alternating names and values of Node and undici to pairs. */
export function toHeaderPairs(raw: readonly (string | Buffer)[]): HeaderPairs {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) pairs.push([text(raw[index]), text(raw[index + 1])]);
  return pairs;
}

function text(part: string | Buffer | undefined): string {
  return typeof part === 'string' ? part : (part?.toString('latin1') ?? '');
}
