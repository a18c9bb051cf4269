import type { Clock } from '../../lib/clock.ts';
import type { AttemptLog } from '../model/trace.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import type { Connections } from './connections.ts';
import type { RequestSender, SendProgress, WireRequest } from './sending.ts';
import type { UpstreamOptions } from './upstream-options.ts';

/** Limits retries, so that they cannot multiply the load on an upstream that keeps breaking connections. */
interface RetryBudget {
  /**
   * Takes one retry from the budget. Returns false if the budget is exhausted. `requests` is the total number of
   * requests so far.
   */
  take(requests: number): boolean;
}

/**
 * Creates a budget that starts full and never exceeds `burst` retries. `burst` is the number of idle connections that
 * an upstream restart can close at the same time.
 */
export function createRetryBudget(
  { percent, minPerSecond }: UpstreamOptions['retryBudget'],
  burst: number,
  clock: Clock,
): RetryBudget {
  const isOff = percent === 0 && minPerSecond === 0;
  let tokens = isOff ? 0 : burst;
  let countedRequests = 0;
  let filledAt = clock();
  return {
    take(requests) {
      const now = clock();
      const bySeconds = (Math.max(0, now - filledAt) / 1000) * minPerSecond;
      const byRequests = ((requests - countedRequests) * percent) / 100;
      tokens = Math.min(burst, tokens + bySeconds + byRequests);
      countedRequests = requests;
      filledAt = now;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}

/** Sends a request once, through the given dispatcher. */
export type SendOnce<T> = (dispatcher: RequestSender, wire: WireRequest, progress: SendProgress) => Promise<T>;

/**
 * The number of retries since startup, by outcome. `refused` counts retries that were not sent because the budget was
 * exhausted.
 */
export type RetryCounts = Readonly<Record<'succeeded' | 'failed' | 'refused', number>>;

/** Sends requests, and retries failed requests if possible. */
interface RetryingSender {
  /**
   * Sends a request at most twice. If a reused connection fails before the response arrives, a safe request is retried
   * on a new connection if the retry budget allows it. If the upstream has several addresses and a new connection fails
   * or cannot be opened in time, a safe request is also retried, at a different address. Each attempt is recorded in
   * `log`.
   */
  send<T>(
    wire: WireRequest,
    sendOnce: SendOnce<T>,
    log: AttemptLog | undefined,
  ): Promise<{ readonly sent: T; readonly attempts: number }>;
  counts(): RetryCounts;
}

/** Determines which requests are retried. */
interface RetryRules {
  /** The retry budget. Undefined if the number of retries is not limited. */
  readonly budget: RetryBudget | undefined;
  /**
   * True if a request can be retried at another address. In that case, a retry makes sense even if the failed
   * connection was new.
   */
  readonly hasOtherAddress: boolean;
}

/** Creates a sender that uses the given connections. */
export function createRetryingSender(
  connections: Connections,
  { budget, hasOtherAddress }: RetryRules,
  clock: Clock,
): RetryingSender {
  const retries = { succeeded: 0, failed: 0, refused: 0 };
  let safeRequests = 0;
  /**
   * Returns whether a request that failed before its response began may be retried, provided that the budget allows it.
   */
  const mayRepeat = (error: unknown, wire: WireRequest) =>
    (isConnectionLost(error) && wire.reused === true) ||
    (hasOtherAddress && (isConnectionLost(error) || isConnectTimeout(error)));
  return {
    async send(wire, sendOnce, log) {
      const once = log === undefined ? sendOnce : logged(sendOnce, log, clock);
      const isSafe = (wire.method === 'GET' || wire.method === 'HEAD') && wire.body === null;
      if (isSafe) {
        safeRequests += 1;
        const progress = { responseStarted: false };
        try {
          return { sent: await once(connections.persistent, wire, progress), attempts: 1 };
        } catch (error) {
          const hasResponded = progress.responseStarted || wire.interim === true;
          if (hasResponded || !mayRepeat(error, wire)) throw error;
          if (budget?.take(safeRequests) === false) {
            retries.refused += 1;
            throw error;
          }
        }
      }
      // `reset` closes the connection after this request.
      const sending = once(connections.fresh(), { ...wire, reset: true }, { responseStarted: false });
      if (!isSafe) return { sent: await sending, attempts: 1 };
      try {
        const sent = await sending;
        retries.succeeded += 1;
        return { sent, attempts: 2 };
      } catch (error) {
        retries.failed += 1;
        throw error;
      }
    },
    counts: () => ({ ...retries }),
  };
}

// A reused connection can also close before the request is written to it. The error then looks like a failed attempt to
// connect.
const isConnectionLost = (error: unknown) =>
  error instanceof UpstreamFailure && (error.kind === 'reset' || error.kind === 'refused');

const isConnectTimeout = (error: unknown) =>
  error instanceof UpstreamFailure && error.facts?.cause === 'connection_timeout';

/**
 * Returns a function that sends a request like `once` and records the attempt. Each attempt has its own `traceparent`.
 */
function logged<T>(once: SendOnce<T>, log: AttemptLog, clock: Clock): SendOnce<T> {
  return async (dispatcher, wire, progress) => {
    const traceparent = log.next();
    nameSpan(wire.headers as string[], traceparent);
    const startedAt = clock();
    const ended = (failure: string | undefined) =>
      log.attempts.push({ startedAt, endedAt: clock(), traceparent, address: wire.sentTo, failure });
    try {
      const sent = await once(dispatcher, wire, progress);
      ended(undefined);
      return sent;
    } catch (error) {
      ended(error instanceof UpstreamFailure ? (error.facts?.cause ?? error.kind) : 'other');
      throw error;
    }
  };
}

/** Sets `traceparent` in a list of alternating names and values. Portico adds this header last. */
function nameSpan(headers: string[], traceparent: string): void {
  for (let index = headers.length - 2; index >= 0; index -= 2) {
    if (headers[index] !== 'traceparent') continue;
    headers[index + 1] = traceparent;
    return;
  }
}
