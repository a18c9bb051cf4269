import type { Principal } from '../../engine/model/principal.ts';
import { isSafe } from '../../engine/model/safe-methods.ts';
import type { Trace } from '../../engine/model/trace.ts';
import type { Arrival } from '../../engine/model/arrival.ts';
import type { FeatureStage, Handler } from '../../engine/pipeline/stage.ts';

/** Whoever has sent a write. */
export interface Writer {
  readonly trace: Trace;
  readonly principal: Pick<Principal, 'name'>;
  readonly arrival: Pick<Arrival, 'method' | 'clientAddress'>;
}

/**
 * Makes a caller stay with the server that has got a write of the caller, before the caller has the response. `wrote`
 * resolves once all gateways can know it, and returns undefined if they do. It is called again after it has resolved,
 * because the shares may have changed meanwhile.
 */
export const stayWithServer = (wrote: (writer: Writer) => Promise<void> | undefined): FeatureStage =>
  forWrites(<E extends Writer>(next: Handler<E>): Handler<E> => async (exchange) => {
    try {
      return await next(exchange);
    } finally {
      // Whatever the server has responded, it may have done what was asked.
      const { upstream, failure } = exchange.trace;
      if (upstream !== undefined || failure !== undefined)
        for (let telling = wrote(exchange); telling !== undefined; telling = wrote(exchange)) await telling;
    }
  });

/** Returns the stage that has an effect on writes only. */
const forWrites = (stage: <E extends Writer>(next: Handler<E>) => Handler<E>): FeatureStage => ({
  name: 'stay-with-server',
  before: 'purge-tags',
  plan: ({ operation }) => (isSafe(operation.method) ? undefined : stage),
  planUndocumented: () => (next) => {
    const writes = stage(next);
    return (exchange) => (isSafe(exchange.arrival.method) ? next(exchange) : writes(exchange));
  },
});

/** The stage without effects, for explanations. */
export const PASSIVE_STAGE = forWrites((next) => next);
