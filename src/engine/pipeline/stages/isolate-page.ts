import type { FailingPageOptions } from '../../cache/cache-options.ts';
import type { ErrorCode } from '../../errors/catalogue.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Exchange } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import type { StagePlanner } from '../stage.ts';
import { fetchedAs } from '../fetched-as.ts';
import { pageKey } from '../page-key.ts';

/** The service that the `isolate-page` stage needs. */
export interface IsolatePageServices {
  readonly failingPages: FailingPages;
}

/**
 * Refuses requests for a page that keeps failing, for a few seconds at a time, so that neither clients nor the upstream
 * waste time on exchanges that are bound to fail. Other pages are not affected, and neither are callers for whom the
 * page has not failed: a failure may be due to the credential with which the page was fetched, even if several callers
 * share the stored page.
 */
export function isolatePage({ failingPages: pages }: IsolatePageServices): StagePlanner {
  const refuseIsolated = (key: string) => {
    const waitMs = pages.waitMs(key);
    if (waitMs <= 0) return;
    throw new GatewayError('upstream_page_failing', 'The upstream keeps failing for this page.', {
      headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) },
    });
  };

  const record = async (fetched: Reply | Promise<Reply>, keyOf: () => string) => {
    try {
      const { status } = await fetched;
      if (status >= 500) pages.failed(keyOf());
      else if (pages.size > 0) pages.succeeded(keyOf());
    } catch (error) {
      if (isPageFailure(error)) pages.failed(keyOf());
    }
  };

  return {
    name: 'isolate-page',
    plan(planned) {
      if (planned.cache === undefined || !pages.isOn) return undefined;
      const keyOf = (exchange: Exchange) => `${pageKey(planned, exchange)}\n${fetchedAs(planned, exchange)}`;
      return (next) => (exchange) => {
        if (pages.size > 0) refuseIsolated(keyOf(exchange));
        const fetched = next(exchange);
        // The outcome is recorded in a separate promise so that the reply is not delayed.
        void record(fetched, () => keyOf(exchange));
        return fetched;
      };
    },
  };
}

/** The pages whose most recent fetch failed. */
export interface FailingPages {
  /** False if pages are never isolated (`cache.failures.after: 0`). */
  readonly isOn: boolean;
  readonly size: number;
  /** Returns how long requests for a page are still refused, in milliseconds. The result is at most 0 if they are not. */
  waitMs(key: string): number;
  failed(key: string): void;
  succeeded(key: string): void;
}

/** Creates an empty memory of failing pages. */
export function createFailingPages(options: FailingPageOptions, clock: Clock): FailingPages {
  // Ordered by the time of the most recent failure.
  const failing = new Map<string, FailingPage>();
  return {
    isOn: options.after > 0,
    get size() {
      return failing.size;
    },
    waitMs: (key) => (failing.get(key)?.isolatedUntil ?? 0) - clock(),
    failed(key) {
      const now = clock();
      const before = failing.get(key);
      const isRow = before !== undefined && now - before.failedAt < ROW_MS;
      const failures = isRow ? before.failures + 1 : 1;
      const isolatedUntil = failures >= options.after ? now + options.seconds * 1000 : 0;
      failing.delete(key);
      failing.set(key, { failures, failedAt: now, isolatedUntil });
      const [oldest] = failing.keys();
      if (failing.size > MAX_PAGES && oldest !== undefined) failing.delete(oldest);
    },
    succeeded: (key) => void failing.delete(key),
  };
}

interface FailingPage {
  /** The number of consecutive failures. */
  readonly failures: number;
  /** When the page last failed, in epoch milliseconds. */
  readonly failedAt: number;
  /** When requests for the page are accepted again, in epoch milliseconds. 0 until the page has failed often enough. */
  readonly isolatedUntil: number;
}

/**
 * The maximum time between two consecutive failures, in milliseconds. Failures further apart do not count as
 * consecutive.
 */
const ROW_MS = 60_000;
const MAX_PAGES = 1000;

/**
 * Failures that a single page can cause. The set does not contain a refused connection, a full queue or an open
 * circuit, because these affect all pages. It does not contain contract violations either, because a response with a
 * violation comes from a working upstream, and the ladder must be able to count the refused responses.
 */
const PAGE_FAILURES: ReadonlySet<string> = new Set<ErrorCode>([
  'upstream_error',
  'upstream_reset',
  'upstream_response_too_large',
  'upstream_timeout',
  'upstream_unavailable',
]);

// An error that replaces a 4xx response is not a failure of the page, whatever its code.
const isPageFailure = (error: unknown) =>
  error instanceof GatewayError && PAGE_FAILURES.has(error.code) && (error.replacedStatus ?? 500) >= 500;
