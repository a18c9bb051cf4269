import { boundedMemo } from '../lib/bounded-memo.ts';

/** The request headers that the gateway itself reads. Repeated headers are joined as described in RFC 9110 §5.3. */
export interface RequestHeaders {
  authorization: string | undefined;
  ifNoneMatch: string | undefined;
  acceptEncoding: string | undefined;
  requestId: string | undefined;
  traceparent: string | undefined;
  tracestate: string | undefined;
  host: string | undefined;
  expect: string | undefined;
  cookie: string | undefined;
  authToken: string | undefined;
}

const HEADERS: ReadonlyMap<string, keyof RequestHeaders> = new Map<string, keyof RequestHeaders>([
  ['authorization', 'authorization'],
  ['if-none-match', 'ifNoneMatch'],
  ['accept-encoding', 'acceptEncoding'],
  ['x-request-id', 'requestId'],
  ['traceparent', 'traceparent'],
  ['tracestate', 'tracestate'],
  ['host', 'host'],
  ['expect', 'expect'],
  ['cookie', 'cookie'],
  ['x-auth-token', 'authToken'],
]);
const MAX_SPELLINGS = 500;
// No name in `HEADERS` is longer.
const MAX_NAME = 40;

/**
 * Creates a function that reads raw headers, a list of alternating names and values. It reads each name once and avoids
 * building the object of all headers that Node creates (bench/micro/stages/read-headers.ts).
 */
export function createHeaderReader(): (rawHeaders: readonly string[]) => RequestHeaders {
  // Clients use only a few spellings of each name, and converting a name to lower case takes longer than finding it.
  const headerOf = boundedMemo(MAX_SPELLINGS, (name: string) => HEADERS.get(name.toLowerCase()) ?? 'other');
  return (rawHeaders) => {
    const found: RequestHeaders = {
      authorization: undefined,
      ifNoneMatch: undefined,
      acceptEncoding: undefined,
      requestId: undefined,
      traceparent: undefined,
      tracestate: undefined,
      host: undefined,
      expect: undefined,
      cookie: undefined,
      authToken: undefined,
    };
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at] ?? '';
      // Longer names are not remembered, so that they do not fill the memory.
      const header = name.length > MAX_NAME ? 'other' : headerOf(name);
      if (header === 'other') continue;
      const value = rawHeaders[at + 1] ?? '';
      const earlier = found[header];
      found[header] = earlier === undefined ? value : earlier + (header === 'cookie' ? '; ' : ', ') + value;
    }
    return found;
  };
}
