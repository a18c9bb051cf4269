import type { Clock } from '../../lib/clock.ts';
import { contentType, headerValue, type HeaderPairs } from '../../engine/model/header-pairs.ts';
import { UpstreamFailure } from '../../engine/model/upstream-failure.ts';
import type { Upstream } from '../../engine/upstream/create-upstream.ts';
import { comparedHeaders, type ServerResponse } from '../../comparison/comparator.ts';
import { retryAfterMs } from '../../lib/retry-after.ts';

/** A response that can be compared, or the reason why there is none. */
export type Asked = { readonly response: ServerResponse } | { readonly because: string };

/** Asks one server, no faster than allowed and never while it asks for patience. */
export interface AskedServer {
  ask(target: string, authorization: string | undefined, signal: AbortSignal): Promise<Asked>;
  /** The number of requests that were sent, including repeated ones. */
  readonly sent: number;
  /** True once a response has arrived, of any status. */
  readonly hasResponded: boolean;
  /** The number of responses in a row that could not be compared. */
  readonly failuresInARow: number;
  /** What the last response has asked for. A long pause is longer than a comparison waits. */
  readonly wants: 'nothing' | 'a pause' | 'a long pause';
}

/** Waits for the given time, or until the signal fires. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

/** What is needed to ask a server. */
export interface ServerParts {
  readonly upstream: Pick<Upstream, 'exchange'>;
  /** The least time between the beginnings of two requests, in milliseconds. */
  readonly delayMs: number;
  readonly clock: Clock;
  readonly pause: Pause;
}

/** How often a request is repeated if the server is overloaded. */
const MAX_ATTEMPTS = 3;
/** The longest time that is waited for an overloaded server. If it asks for more, it is not asked again. */
const MAX_WAIT_MS = 120_000;
const FIRST_WAIT_MS = 1_000;

const OVERLOADED: ReadonlySet<number> = new Set([429, 503]);

/** Creates the client of one server. */
export function createAskedServer({ upstream, delayMs, clock, pause }: ServerParts): AskedServer {
  let nextAt = 0;
  let sent = 0;
  let failures = 0;
  let hasResponded = false;
  let wants: AskedServer['wants'] = 'nothing';
  /** A long pause remains wanted, whatever other requests get that were on their way. */
  const want = (next: AskedServer['wants']) => (wants = wants === 'a long pause' ? wants : next);
  let queue = Promise.resolve();
  /** Waits for the turn of a request. Requests that wait get turns one after another, however late a pause ends. */
  const turn = (signal: AbortSignal): Promise<void> => {
    const before = queue;
    const take = async () => {
      await before;
      let at = clock();
      while (at < nextAt && !signal.aborted) {
        const waitMs = nextAt - at;
        // Until then, another response may ask for a longer pause.
        at = nextAt;
        await pause(waitMs, signal);
      }
      nextAt = Math.max(at, clock()) + delayMs;
    };
    queue = take();
    return queue;
  };
  const send = async (target: string, authorization: string | undefined, signal: AbortSignal): Promise<Sent> => {
    const headers: [string, string][] = [
      ['Accept', 'application/json'],
      ['User-Agent', 'portico-compare'],
    ];
    if (authorization !== undefined) headers.push(['Authorization', authorization]);
    sent += 1;
    try {
      const response = await upstream.exchange({ method: 'GET', target, headers, mode: 'buffered', signal });
      if (!Buffer.isBuffer(response.body)) return { because: 'too large' };
      if (response.codingFault !== undefined) return { because: 'content coding' };
      const received = {
        status: response.status,
        mediaType: contentType(response.headers),
        body: response.body,
        headers: comparedHeaders(response.headers),
      };
      const waitMs = OVERLOADED.has(response.status) ? waitOf(response.headers, clock()) : undefined;
      hasResponded = true;
      return { response: received, waitMs };
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      const { kind, retryAfterSeconds } = error;
      // Portico's own circuit asks for patience, too.
      if (kind === 'circuit_open' || kind === 'shed')
        return { because: WORDS[kind], waitMs: (retryAfterSeconds ?? 1) * 1000 };
      return { because: WORDS[kind] };
    }
  };
  const ask = async (target: string, authorization: string | undefined, signal: AbortSignal): Promise<Asked> => {
    for (let attempt = 1; ; attempt += 1) {
      await turn(signal);
      if (signal.aborted) return { because: 'interrupted' };
      if (wants === 'a long pause') return { because: 'asks for a long pause' };
      const result = await send(target, authorization, signal);
      if ('response' in result && result.waitMs === undefined) {
        want('nothing');
        return { response: result.response };
      }
      const because = 'response' in result ? `status ${result.response.status}` : result.because;
      want(result.waitMs === undefined ? 'nothing' : 'a pause');
      if (result.waitMs === undefined) return { because };
      const waitMs = Math.max(result.waitMs, FIRST_WAIT_MS * 2 ** (attempt - 1));
      if (waitMs > MAX_WAIT_MS) {
        want('a long pause');
        return { because: `${because}, which asks for more than ${MAX_WAIT_MS / 1000} seconds` };
      }
      // All requests wait, not only this one.
      nextAt = Math.max(nextAt, clock() + waitMs);
      // While the circuit is open, nothing was sent that could be repeated.
      if (attempt >= MAX_ATTEMPTS || !('response' in result)) return { because };
    }
  };
  return {
    async ask(target, authorization, signal) {
      const asked = await ask(target, authorization, signal);
      failures = 'response' in asked ? 0 : failures + 1;
      return asked;
    },
    get sent() {
      return sent;
    },
    get hasResponded() {
      return hasResponded;
    },
    get failuresInARow() {
      return failures;
    },
    get wants() {
      return wants;
    },
  };
}

/** One attempt. `waitMs` is set if the server asks for patience. */
type Sent =
  | { readonly response: ServerResponse; readonly waitMs: number | undefined }
  | { readonly because: string; readonly waitMs?: number };

const WORDS: Readonly<Record<UpstreamFailure['kind'], string>> = {
  refused: 'connection refused',
  reset: 'connection reset',
  truncated: 'incomplete response',
  deadline: 'timeout',
  shed: 'too many requests at once',
  circuit_open: 'too many failures',
  too_large: 'too large',
  aborted: 'interrupted',
};

const waitOf = (headers: HeaderPairs, now: number) => retryAfterMs(headerValue(headers, 'retry-after'), now) ?? 0;
