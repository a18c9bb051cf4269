import type { PageCache } from '../../cache/page-cache.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { createSingleFlight } from '../../lib/single-flight.ts';
import { pageKey } from '../store-page.ts';
import type { Reply } from '../reply.ts';
import type { StagePlanner } from '../stage.ts';

/** Makes one upstream call of identical pages that are asked for at the same time by the same audience. */
export function coalesce(cache: PageCache, contractVersion: string): StagePlanner {
  return {
    name: 'coalesce',
    plan(planned) {
      if (planned.cache === undefined) return undefined;
      const flights = createSingleFlight<Reply>();
      const shared = planned.cache.audience !== 'caller';
      return (next) => async (exchange) => {
        // A caller that has just written must not be given a page whose fetch began before the write.
        const key = `${cache.generation()} ${pageKey(planned, exchange, contractVersion)}`;
        const { promise, leader } = flights.run(key, () => next(exchange));
        if (leader) return promise;
        const reply = await promise.catch((error: unknown) => {
          if (shared && error instanceof GatewayError && isRefusal(error.status)) return undefined;
          // A failure is shared as an answer is: this request made no exchange of its own.
          const { cache: met } = exchange.trace;
          if (met?.status === 'miss') exchange.trace.cache = { ...met, status: 'coalesced' };
          throw error;
        });
        if (reply === undefined || (shared && isRefusal(reply.status))) return next(exchange);
        return { ...reply, shared: true };
      };
    },
  };
}

/** What the upstream refused to the leader's credential it may well answer to another caller's. */
function isRefusal(status: number): boolean {
  return status === 401 || status === 403;
}
