import type { PageCache } from '../../cache/page-cache.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { createSingleFlight } from '../../lib/single-flight.ts';
import type { Trace } from '../../model/trace.ts';
import { pageKey } from '../stored-reply.ts';
import type { Reply } from '../reply.ts';
import type { StagePlanner } from '../stage.ts';

/**
 * Combines simultaneous requests for the same page from the same audience into one upstream request. If spans are
 * exported, each request's trace refers to the request that it joined.
 */
export function coalesce(cache: PageCache, exportsSpans = false): StagePlanner {
  return {
    name: 'coalesce',
    plan(planned) {
      if (planned.cache === undefined) return undefined;
      let flights = createSingleFlight<Reply>();
      let generation = cache.generation();
      const leaders = exportsSpans ? new WeakMap<Promise<Reply>, Trace>() : undefined;
      const shared = planned.cache.audience !== 'caller';
      return (next) => async (exchange) => {
        // A request made after a write must not receive a page whose fetch started before the write.
        if (generation !== cache.generation()) {
          flights = createSingleFlight<Reply>();
          generation = cache.generation();
        }
        const { promise, leader } = flights.run(pageKey(planned, exchange), () => next(exchange));
        if (leader) {
          leaders?.set(promise, exchange.trace);
          return promise;
        }
        exchange.trace.leader = leaders?.get(promise);
        const reply = await promise.catch((error: unknown) => {
          if (shared && error instanceof GatewayError && isRefusal(error.status)) return undefined;
          // The request is recorded as coalesced even when the fetch fails, because it was not itself sent upstream.
          const { cache: cacheTrace } = exchange.trace;
          if (cacheTrace?.status === 'miss') exchange.trace.cache = { ...cacheTrace, status: 'coalesced' };
          throw error;
        });
        if (reply === undefined || (shared && isRefusal(reply.status))) {
          exchange.trace.leader = undefined;
          return next(exchange);
        }
        return { ...reply, shared: true };
      };
    },
  };
}

/**
 * Returns whether the upstream refused the first caller's credential. The upstream may still accept another caller's
 * credential.
 */
function isRefusal(status: number): boolean {
  return status === 401 || status === 403;
}
