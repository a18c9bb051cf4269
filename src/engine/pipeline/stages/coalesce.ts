import type { PageCache } from '../../cache/memory-pages.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { createSingleFlight } from '../../../lib/single-flight.ts';
import type { Trace } from '../../model/trace.ts';
import type { Exchange } from '../exchange.ts';
import { fetchedAs } from '../fetched-as.ts';
import { pageKey } from '../page-key.ts';
import type { Reply } from '../reply.ts';
import type { StagePlanner } from '../stage.ts';

/**
 * Combines simultaneous requests for the same page from the same audience into one upstream request. If spans are
 * exported, each request's trace refers to the request that it joined.
 *
 * If several callers share the page, the upstream's error may be due to the credential of the caller whose request was
 * sent. Another caller therefore does not share it: after a refusal, every caller fetches the page, and after any other
 * error, one of the other callers does so for all of them.
 */
export function coalesce(cache: PageCache, exportsSpans = false): StagePlanner {
  return {
    name: 'coalesce',
    plan(planned) {
      if (planned.cache === undefined) return undefined;
      let flights = createSingleFlight<Reply>();
      let generation = cache.generation();
      const leaders = new WeakMap<Promise<Reply>, { readonly trace: Trace; readonly as: string }>();
      const shared = planned.cache.audience !== 'caller';
      return (next) => {
        const join = async (exchange: Exchange, key: string, attempt: 'first' | 'second'): Promise<Reply> => {
          const as = shared ? fetchedAs(planned, exchange) : '';
          const { promise, leader } = flights.run(`${key}\n${attempt}`, () => next(exchange));
          if (leader) {
            leaders.set(promise, { trace: exchange.trace, as });
            return promise;
          }
          const first = leaders.get(promise);
          if (exportsSpans) exchange.trace.leader = first?.trace;
          const mayBeOfOther = shared && attempt === 'first' && first?.as !== as;
          const outcome = await promise.catch((error: unknown) => {
            if (shared && error instanceof GatewayError && isRefusedCaller(error.status)) return 'refused' as const;
            if (mayBeOfOther && isOfCaller(error)) return 'failed' as const;
            // The request is recorded as coalesced even when the fetch fails, because it was not itself sent upstream.
            const { cache: cacheTrace } = exchange.trace;
            if (cacheTrace?.status === 'miss') exchange.trace.cache = { ...cacheTrace, status: 'coalesced' };
            throw error;
          });
          const isRefused =
            outcome === 'refused' || (shared && outcome !== 'failed' && isRefusedCaller(outcome.status));
          const isFailed = outcome === 'failed' || (mayBeOfOther && outcome !== 'refused' && outcome.status >= 300);
          if (!isRefused && !isFailed) return { ...outcome, shared: true };
          exchange.trace.leader = undefined;
          return isRefused ? next(exchange) : join(exchange, key, 'second');
        };
        return (exchange) => {
          // A request made after a write must not receive a page whose fetch started before the write.
          if (generation !== cache.generation()) {
            flights = createSingleFlight<Reply>();
            generation = cache.generation();
          }
          return join(exchange, pageKey(planned, exchange), 'first');
        };
      };
    },
  };
}

/**
 * Returns whether an error may be due to the credential with which a page was fetched: it replaces a response of the
 * upstream, or the page is isolated for that caller.
 */
function isOfCaller(error: unknown): boolean {
  return (
    error instanceof GatewayError && (error.replacedStatus !== undefined || error.code === 'upstream_page_failing')
  );
}

/**
 * Returns whether the upstream refused the first caller's credential. The upstream may still accept another caller's
 * credential.
 */
function isRefusedCaller(status: number): boolean {
  return status === 401 || status === 403;
}
