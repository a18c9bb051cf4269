import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { ErrorCode } from '../../../src/engine/errors/catalogue.ts';

/** The valid response that the faults modify. */
export interface ValidResponse {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * What the client receives.
 *
 * - an error code: one of the gateway's errors
 * - `valid`: the complete, valid response
 * - `same`: the complete response with the status, the type and the body that the upstream sent
 * - `broken`: the beginning of a response and then a broken connection, or a 502
 * - `waits`: nothing, or the beginning of a response, until the client gives up
 */
export type Outcome = ErrorCode | 'valid' | 'same' | 'broken' | 'waits';

/** A faulty upstream's response. */
interface Sent {
  /** The bytes, which are written one after another in separate packets. */
  readonly parts: readonly (string | Buffer)[];
  /** What happens to the connection after the response. By default, it stays open. */
  readonly ending?: 'ends' | 'resets';
  /** True if the last part is repeated at short intervals while the connection is open. */
  readonly drips?: boolean;
  /** The status and body that a client must receive for the `same` outcome. */
  readonly status?: number;
  readonly body?: Buffer;
}

/** One upstream fault and its outcomes. */
export interface Fault {
  /** Completes the sentence "an upstream that …". */
  readonly name: string;
  /** The outcome of a documented request in `staging` and `strict` mode. */
  readonly built: Outcome;
  /** The outcome with `responses: enforce`, if it differs from `built`. */
  readonly enforced?: Outcome;
  /** The outcome of an undocumented request in `staging` and `strict` mode. */
  readonly passed: Outcome;
  /** The outcome of every request in `observe` mode, if it differs from `passed`. */
  readonly observed?: Outcome;
  /** True if only a timeout ends the fault. */
  readonly isSilent?: boolean;
  /** True if body bytes keep arriving, so that only the time limit on the whole exchange can end it. */
  readonly isEndless?: boolean;
}

/** A fault in a response. */
export interface ResponseFault extends Fault {
  readonly send: (valid: ValidResponse) => Sent;
  /** True if the fault occurs only on a connection that has already carried another request. */
  readonly onReuse?: boolean;
}

/** The maximum size of a response in the tests, in bytes. */
export const MAX_RESPONSE_BYTES = 256 * 1024;

const JSON_TYPE = 'Content-Type: application/json';
const line = (status: number) => `HTTP/1.1 ${status} ${status < 300 ? 'OK' : 'Odd'}`;
const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`;
const framed = (status: number, body: Buffer, ...headers: string[]) => [
  head(line(status), ...headers, `Content-Length: ${body.length}`),
  body,
];
const half = (body: Buffer) => body.subarray(0, body.length >> 1);
const chunk = (body: Buffer) => Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, CRLF]);
const CRLF = Buffer.from('\r\n');
/** A gzip-compressed body that far exceeds the limit when it is decompressed. */
const BOMB = gzipSync(Buffer.alloc(16 * MAX_RESPONSE_BYTES, ' '));
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const PAGE = Buffer.from('<!doctype html><title>Sign in</title><script>alert(1)</script>');
const VALID = { built: 'valid', passed: 'valid' } as const;
const RESET = { built: 'upstream_reset', passed: 'upstream_reset' } as const;
const CUT = { built: 'upstream_reset', passed: 'broken' } as const;
/** A response that is forwarded and recorded as a contract violation, or refused if responses are enforced. */
const VIOLATION = { built: 'same', enforced: 'upstream_invalid_response', passed: 'same' } as const;

/** Makes the upstream send a complete response with this body in place of the valid body. */
const instead = (body: Buffer, ...headers: string[]) => ({
  send: ({ status }: ValidResponse): Sent => ({ parts: framed(status, body, ...headers), status, body }),
});
/** Makes the upstream send a complete error response. */
const failing = (status: number, body: Buffer, ...headers: string[]) => ({
  send: (): Sent => ({ parts: framed(status, body, ...headers), status, body }),
});
/** Makes the upstream send the valid body with these headers. */
const withHeaders = (...headers: string[]) => ({
  send: ({ status, body }: ValidResponse): Sent => ({ parts: framed(status, body, ...headers), status, body }),
});
/** Makes the upstream send the valid response, preceded by these bytes. */
const after = (before: string) => ({
  send: ({ status, body }: ValidResponse): Sent => ({ parts: [before, ...framed(status, body, JSON_TYPE)] }),
});
const beginning = (statusLine: string) => ({
  send: ({ body }: ValidResponse): Sent => ({
    parts: [head(statusLine, JSON_TYPE, `Content-Length: ${body.length}`), body],
    ending: 'ends',
  }),
});

/** All response faults. Connection faults are in `connection-faults.ts`. */
export const RESPONSE_FAULTS: readonly ResponseFault[] = [
  // Faults in which the upstream is silent.
  {
    name: 'sends no first byte',
    send: () => ({ parts: [] }),
    built: 'upstream_timeout',
    passed: 'upstream_timeout',
    observed: 'waits',
    isSilent: true,
  },
  {
    name: 'stalls in the middle of its head',
    send: ({ status }) => ({ parts: [`${line(status)}\r\nContent-Ty`] }),
    built: 'upstream_timeout',
    passed: 'upstream_timeout',
    observed: 'waits',
    isSilent: true,
  },
  {
    name: 'drips its head without an end',
    send: ({ status }) => ({ parts: [`${line(status)}\r\n`, 'X-A: b\r\n'], drips: true }),
    built: 'upstream_timeout',
    passed: 'upstream_timeout',
    observed: 'waits',
    isSilent: true,
  },
  {
    name: 'stalls in the middle of its body',
    send: ({ status, body }) => ({
      parts: [head(line(status), JSON_TYPE, `Content-Length: ${body.length}`), half(body)],
    }),
    built: 'upstream_timeout',
    passed: 'broken',
    observed: 'waits',
    isSilent: true,
  },
  {
    name: 'drips its body without an end',
    send: ({ status }) => ({
      parts: [head(line(status), JSON_TYPE, 'Transfer-Encoding: chunked'), '1\r\n \r\n'],
      drips: true,
    }),
    built: 'upstream_timeout',
    passed: 'waits',
    isSilent: true,
    isEndless: true,
  },

  // Faults in which the connection is lost.
  { name: 'resets the connection before its head', send: () => ({ parts: [], ending: 'resets' }), ...RESET },
  { name: 'closes the connection before its head', send: () => ({ parts: [], ending: 'ends' }), ...RESET },
  {
    name: 'resets the connection in the middle of its head',
    send: ({ status }) => ({ parts: [`${line(status)}\r\nContent-Ty`], ending: 'resets' }),
    ...RESET,
  },
  {
    name: 'closes the connection in the middle of its head',
    send: ({ status }) => ({ parts: [`${line(status)}\r\nContent-Ty`], ending: 'ends' }),
    ...RESET,
  },
  {
    name: 'resets the connection in the middle of its body',
    send: ({ status, body }) => ({
      parts: [head(line(status), JSON_TYPE, `Content-Length: ${body.length}`), half(body)],
      ending: 'resets',
    }),
    ...CUT,
  },
  {
    name: 'sends less than its Content-Length',
    send: ({ status, body }) => ({
      parts: [head(line(status), JSON_TYPE, `Content-Length: ${body.length + 1}`), body],
      ending: 'ends',
    }),
    ...CUT,
  },
  {
    name: 'leaves out the last chunk',
    send: ({ status, body }) => ({
      parts: [head(line(status), JSON_TYPE, 'Transfer-Encoding: chunked'), chunk(body)],
      ending: 'ends',
    }),
    ...CUT,
  },
  {
    name: 'ends in the middle of a chunk',
    send: ({ status, body }) => ({
      parts: [head(line(status), JSON_TYPE, 'Transfer-Encoding: chunked'), chunk(body).subarray(0, -8)],
      ending: 'ends',
    }),
    ...CUT,
  },
  {
    name: 'writes a malformed chunk size',
    send: ({ status, body }) => ({
      parts: [head(line(status), JSON_TYPE, 'Transfer-Encoding: chunked'), 'zz\r\n', body],
      ending: 'ends',
    }),
    ...CUT,
  },
  {
    name: 'ends its body with the connection',
    send: ({ status, body }) => ({ parts: [head(line(status), JSON_TYPE), body], ending: 'ends' }),
    ...VALID,
  },
  {
    name: 'resets the connection that would end its body',
    send: ({ status, body }) => ({ parts: [head(line(status), JSON_TYPE), body], ending: 'resets' }),
    ...CUT,
  },
  {
    name: 'closes an idle connection at the moment of its reuse',
    send: ({ status, body }) => ({ parts: framed(status, body, JSON_TYPE) }),
    onReuse: true,
    ...VALID,
  },

  // Faults in the body.
  {
    name: 'sends malformed JSON',
    send: ({ status, body }) => {
      const cut = half(body);
      return { parts: framed(status, cut, JSON_TYPE), status, body: cut };
    },
    ...VIOLATION,
  },
  { name: 'sends no body', ...instead(Buffer.alloc(0), JSON_TYPE), ...VIOLATION },
  { name: 'sends JSON of another form', ...instead(Buffer.from('{"list":"none"}'), JSON_TYPE), ...VIOLATION },
  { name: 'labels its JSON as plain text', ...withHeaders('Content-Type: text/plain'), ...VIOLATION },
  { name: 'does not label its JSON', ...withHeaders(), ...VIOLATION },
  { name: 'sends HTML with a 200', ...instead(PAGE, 'Content-Type: text/html'), ...VIOLATION },
  { name: 'sends HTML that is labeled as JSON', ...instead(PAGE, JSON_TYPE), ...VIOLATION },
  {
    name: 'uses an unknown content coding',
    ...instead(Buffer.from([1, 2, 3, 254, 255]), JSON_TYPE, 'Content-Encoding: snappy'),
    ...VIOLATION,
  },
  {
    name: 'labels a plain body as gzip',
    ...withHeaders(JSON_TYPE, 'Content-Encoding: gzip'),
    built: 'same',
    passed: 'same',
  },
  {
    name: 'does not label a gzip body',
    send: ({ status, body }) => {
      const coded = gzipSync(body);
      return { parts: framed(status, coded, JSON_TYPE), status, body: coded };
    },
    ...VIOLATION,
  },
  {
    name: 'cuts a gzip body short',
    send: ({ status, body }) => {
      const coded = gzipSync(body).subarray(0, -9);
      return { parts: framed(status, coded, JSON_TYPE, 'Content-Encoding: gzip'), status, body: coded };
    },
    built: 'upstream_reset',
    passed: 'same',
  },
  {
    name: 'sends a decompression bomb',
    ...instead(BOMB, JSON_TYPE, 'Content-Encoding: gzip'),
    built: 'upstream_response_too_large',
    passed: 'same',
  },
  {
    name: 'sends a decompression bomb inside another',
    ...instead(gzipSync(BOMB), JSON_TYPE, 'Content-Encoding: gzip', 'Content-Encoding: gzip'),
    built: 'upstream_response_too_large',
    passed: 'same',
  },
  {
    name: 'declares a length above the limit',
    ...instead(Buffer.alloc(MAX_RESPONSE_BYTES + 1, ' '), JSON_TYPE),
    built: 'upstream_response_too_large',
    passed: 'same',
  },
  {
    name: 'sends more than the limit without a length',
    send: ({ status }) => {
      const body = Buffer.alloc(MAX_RESPONSE_BYTES + 1, ' ');
      return { parts: [head(line(status), JSON_TYPE), body], ending: 'ends', status, body };
    },
    built: 'upstream_response_too_large',
    passed: 'same',
  },
  {
    name: 'nests its JSON too deeply',
    ...instead(Buffer.from('[{"a":'.repeat(5000) + '1' + '}]'.repeat(5000)), JSON_TYPE),
    ...VIOLATION,
    enforced: 'upstream_response_unchecked',
  },

  // Error responses.
  {
    name: 'redirects to a login page',
    ...failing(302, PAGE, 'Content-Type: text/html', 'Location: /login?next=x'),
    built: 'upstream_redirect',
    passed: 'same',
  },
  {
    name: 'sends an HTML error page',
    ...failing(500, PAGE, 'Content-Type: text/html'),
    built: 'upstream_error',
    passed: 'same',
  },
  {
    name: 'is in maintenance',
    ...failing(503, PAGE, 'Content-Type: text/html', 'Retry-After: 7'),
    built: 'upstream_unavailable',
    passed: 'same',
  },
  {
    name: 'sits behind a proxy that times out',
    ...failing(504, PAGE, 'Content-Type: text/html'),
    built: 'upstream_timeout',
    passed: 'same',
  },
  {
    name: 'reports an error with a 200',
    ...instead(Buffer.from('{"error":"Something went wrong."}'), JSON_TYPE),
    built: 'upstream_error_in_success',
    passed: 'same',
  },

  // Faults in the head.
  { name: 'sends interim responses first', ...after(CONTINUE.repeat(3)), ...VALID },
  { name: 'sends a storm of interim responses', ...after(CONTINUE.repeat(2000)), ...RESET },
  {
    name: 'switches protocols',
    ...after('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
    ...RESET,
  },
  { name: 'sends a status of four digits', ...beginning('HTTP/1.1 2000 OK'), ...RESET },
  { name: 'sends a status of two digits', ...beginning('HTTP/1.1 20 OK'), ...RESET },
  { name: 'sends a status above 599', ...beginning('HTTP/1.1 999 Odd'), ...RESET },
  { name: 'sends no status', ...beginning('HTTP/1.1'), ...RESET },
  { name: 'claims another version of HTTP', ...beginning('HTTP/3.7 200 OK'), ...RESET },
  { name: 'speaks another protocol', send: () => ({ parts: ['SSH-2.0-OpenSSH_9.6\r\n'], ending: 'ends' }), ...RESET },
  {
    name: 'sends two different lengths',
    send: ({ status, body }) => ({
      parts: [head(line(status), JSON_TYPE, `Content-Length: ${body.length}`, 'Content-Length: 5'), body],
    }),
    ...RESET,
  },
  {
    name: 'sends the same length twice',
    send: ({ status, body }) => ({
      parts: [head(line(status), JSON_TYPE, `Content-Length: ${body.length}`, `Content-Length: ${body.length}`), body],
    }),
    ...RESET,
  },
  {
    name: 'sends a length and chunks',
    send: ({ status, body }) => ({
      parts: [
        head(line(status), JSON_TYPE, 'Content-Length: 5', 'Transfer-Encoding: chunked'),
        chunk(body),
        '0\r\n\r\n',
      ],
    }),
    ...RESET,
  },
  {
    name: 'sends a negative length',
    send: ({ status, body }) => ({ parts: [head(line(status), JSON_TYPE, 'Content-Length: -1'), body] }),
    ...RESET,
  },
  {
    name: 'sends two different types',
    ...withHeaders(JSON_TYPE, 'Content-Type: text/html'),
    ...VIOLATION,
  },
  {
    name: 'sends a huge header',
    ...withHeaders(JSON_TYPE, `X-Odd: ${'a'.repeat(100_000)}`),
    built: 'upstream_response_too_large',
    passed: 'upstream_response_too_large',
    observed: 'valid',
  },
  {
    name: 'sends thousands of headers',
    ...withHeaders(JSON_TYPE, ...Array.from({ length: 3000 }, (_, at) => `X-${at}: a`)),
    built: 'valid',
    passed: 'valid',
  },
  { name: 'ends a header with a bare CR', ...withHeaders(JSON_TYPE, 'X-Odd: a\rX-Injected: b'), ...RESET },
  { name: 'sends NUL in a header', ...withHeaders(JSON_TYPE, 'X-Odd: a\0b'), ...RESET },
  { name: 'folds a header', ...withHeaders(JSON_TYPE, 'X-Odd: a\r\n  b'), ...RESET },
  { name: 'sends a space before a colon', ...withHeaders(JSON_TYPE, 'X-Odd : a'), ...RESET },
  { name: 'sends a header without a name', ...withHeaders(JSON_TYPE, ': a'), ...RESET },
  { name: 'sends a header name with a control character', ...withHeaders(JSON_TYPE, 'X-O\u0001d: a'), ...RESET },
  {
    name: 'sends a second response after the first',
    send: ({ status, body }) => {
      const evil = Buffer.from('{"evil":true}');
      return {
        parts: [Buffer.concat([...framed(status, body, JSON_TYPE), ...framed(200, evil, JSON_TYPE)].map(bytesOf))],
      };
    },
    ...VALID,
  },
];

const bytesOf = (part: string | Buffer) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part);

/** The time, in milliseconds, between two parts of a body that the upstream sends a little at a time. */
const DRIP_MS = 50;

/** Writes a faulty response. */
export function playFault(socket: Socket, fault: ResponseFault, valid: ValidResponse, earlier: number): void {
  if (fault.onReuse === true && earlier > 0) return void socket.resetAndDestroy();
  const { parts, ending, drips } = fault.send(valid);
  const rest = [...parts];
  const last = rest.at(-1);
  const next = () => {
    if (socket.destroyed) return;
    const part = rest.shift();
    if (part !== undefined) {
      socket.write(bytesOf(part));
      // If parts were written in the same turn of the event loop, the operating system might combine them.
      setImmediate(next);
      return;
    }
    // A reset discards bytes that the gateway has received but not yet read.
    if (ending === 'resets') setTimeout(() => socket.resetAndDestroy(), parts.length > 0 ? DRIP_MS : 0);
    else if (ending === 'ends') socket.end();
    else if (drips === true && last !== undefined) {
      const timer = setInterval(() => socket.write(last), DRIP_MS);
      socket.once('close', () => clearInterval(timer));
    }
  };
  next();
}
