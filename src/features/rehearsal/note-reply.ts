import { createTraceSlot } from '../../engine/model/trace-slot.ts';
import type { FeatureStage } from '../../engine/pipeline/stage.ts';
import { uploadOf } from '../../engine/upstream/send-proxied.ts';
import type { RehearsedExchange } from './rehearse.ts';

/** The exchanges that will be rehearsed once the client has its response. */
export const NOTED = createTraceSlot<RehearsedExchange | undefined>();

/**
 * Keeps a sample of the exchanges in `observe` mode with their responses. HEAD requests and requests with a body are
 * left out, as are responses that are not in memory because they are too large or incomplete.
 */
export function noteReply(isSampled: () => boolean): FeatureStage {
  return {
    name: 'note-reply',
    before: 'forward',
    plan({ operation, transparent }) {
      if (!transparent || operation.method !== 'GET') return undefined;
      return (next) => async (exchange) => {
        const reply = await next(exchange);
        const { arrival, trace } = exchange;
        const { body } = reply;
        if (arrival.method === 'GET' && uploadOf(arrival) === undefined && Buffer.isBuffer(body) && isSampled())
          NOTED.set(trace, { exchange, reply: { ...reply, body } });
        return reply;
      };
    },
  };
}
