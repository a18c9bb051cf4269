import type { ServerResponse } from '../../comparison/comparator.ts';
import type { Cancellation } from '../../engine/model/arrival.ts';
import { contentType, headerValue, type HeaderPairs } from '../../engine/model/header-pairs.ts';
import { UpstreamFailure } from '../../engine/model/upstream-failure.ts';
import { createUpstream, type Upstream } from '../../engine/upstream/create-upstream.ts';
import { UPSTREAM_DEFAULTS, type UpstreamOptions } from '../../engine/upstream/upstream-options.ts';
import type { CircuitChange } from '../../engine/upstream/upstream-gate.ts';
import type { UpstreamAddress } from '../../engine/upstream/upstream-url.ts';
import type { Clock } from '../../lib/clock.ts';
import { retryAfterMs } from '../../lib/retry-after.ts';
import type { MirrorOptions } from './options.ts';

/** A request to the second server. */
export interface CandidateRequest {
  /** The path and query in the form of the legacy server, relative to its base address. */
  readonly target: string;
  readonly authorization: string | undefined;
  /** The client's own headers about the form of the response, in `observe` mode. */
  readonly accept: string | undefined;
  readonly acceptLanguage: string | undefined;
}

/** The second server's response, or why there is none. `isSent` is false if no request was sent. */
export type CandidateAnswer =
  | { readonly answer: ServerResponse; readonly seconds: number }
  | { readonly because: string; readonly isSent: boolean };

/** The client of the second server. It has connections, limits and a circuit of its own. */
export interface Candidate {
  ask(request: CandidateRequest, signal: Cancellation): Promise<CandidateAnswer>;
  isPaused(): boolean;
  close(): Promise<void>;
}

interface CandidateParts {
  readonly options: MirrorOptions;
  readonly address: UpstreamAddress;
  readonly clock: Clock;
  /** Called with the number of bytes whenever some arrive. */
  readonly onReceived: (bytes: number) => void;
  readonly onCircuit: (change: CircuitChange) => void;
}

/** Creates the client. No connection is opened before the first request. */
export function createCandidate({ options, address, clock, onReceived, onCircuit }: CandidateParts): Candidate {
  const upstream: Upstream = createUpstream(address, limitsOf(options), clock, { onCircuit, onReceived });
  /** Until when the second server wants to be left alone, in epoch milliseconds. */
  let busyUntil = 0;
  return {
    async ask({ target, authorization, accept = 'application/json', acceptLanguage }, signal) {
      const headers: HeaderPairs = [
        ['Accept', accept],
        ...(acceptLanguage === undefined ? [] : [['Accept-Language', acceptLanguage] as const]),
        // Servers of this kind require it on every request.
        ['Content-Type', 'application/json'],
        ['User-Agent', 'portico-mirror'],
        ...(authorization === undefined ? [] : [['Authorization', authorization] as const]),
        ...options.headers.map(({ name, value }) => [name, value] as const),
      ];
      const startedAt = clock();
      if (startedAt < busyUntil) return { because: WORDS.circuit_open, isSent: false };
      try {
        // Without a session, cookies are neither kept nor sent, and redirects are responses like all others.
        const request = { method: 'GET', target: withPrefix(target, options.prefix), headers, signal };
        const response = await upstream.exchange({ ...request, mode: 'buffered' });
        const seconds = (clock() - startedAt) / 1000;
        if (!Buffer.isBuffer(response.body)) return { because: 'new server: too large', isSent: true };
        if (response.codingFault !== undefined) return { because: 'new server: content coding', isSent: true };
        if (BUSY.has(response.status)) {
          const waitMs = retryAfterMs(headerValue(response.headers, 'retry-after'), clock()) ?? 0;
          busyUntil = Math.max(busyUntil, clock() + Math.min(waitMs, MAX_WAIT_MS));
          return { because: `new server: status ${response.status}`, isSent: true };
        }
        const { status, body } = response;
        return { answer: { status, mediaType: contentType(response.headers), body }, seconds };
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error;
        const isSent = !NOT_SENT.has(error.kind);
        return { because: isSent ? `new server: ${WORDS[error.kind]}` : WORDS[error.kind], isSent };
      }
    },
    isPaused: () => upstream.stats().circuit !== 'closed' || clock() < busyUntil,
    close: () => upstream.close(0),
  };
}

/** The longest time for which the second server can ask to be left alone, so that it cannot end the mirror. */
const MAX_WAIT_MS = 3_600_000;

/** The statuses that say nothing about the requested object. */
export const BUSY: ReadonlySet<number> = new Set([429, 503]);

const NOT_SENT: ReadonlySet<UpstreamFailure['kind']> = new Set(['circuit_open', 'shed', 'aborted']);

/** The reasons why there is no response, in words that are bounded enough for a metric. */
export const WORDS: Readonly<Record<UpstreamFailure['kind'], string>> = {
  refused: 'connection refused',
  reset: 'connection reset',
  truncated: 'incomplete response',
  deadline: 'timeout',
  shed: 'too many requests at once',
  circuit_open: 'second server paused',
  too_large: 'too large',
  aborted: 'interrupted',
};

/** Returns the limits for the second server. Nothing of them depends on those for the legacy server. */
function limitsOf({ timeouts, maxResponseBytes, concurrency, circuit }: MirrorOptions): UpstreamOptions {
  return {
    ...UPSTREAM_DEFAULTS,
    connectTimeoutMs: timeouts.connectMs,
    headersTimeoutMs: timeouts.headersMs,
    bodyTimeoutMs: timeouts.headersMs,
    totalTimeoutMs: timeouts.totalMs,
    // An exchange that is interrupted may still have its slot when the next one begins.
    concurrency,
    queue: concurrency,
    queueTimeoutMs: timeouts.totalMs,
    // A repeated request would exceed the budget.
    retryBudget: { percent: 0, minPerSecond: 0 },
    maxResponseBytes,
    // Parsing tens of thousands of headers would hold up clients.
    maxResponseHeaderBytes: 16_384,
    circuit,
    sessionCookies: [],
    startupProbe: false,
  };
}

/** Returns a target with another beginning of its path. */
function withPrefix(target: string, prefix: MirrorOptions['prefix']): string {
  if (prefix === undefined || !target.startsWith(prefix.from)) return target;
  const rest = target.slice(prefix.from.length);
  return rest === '' || rest.startsWith('/') || rest.startsWith('?')
    ? `${prefix.to}${rest === '' ? '/' : rest}`
    : target;
}
