import { tagsOf } from '../../cache/tags.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Exchange } from '../exchange.ts';
import type { StagePlanner } from '../stage.ts';

/** Removes all stored responses with any of these tags. Returns a promise if other gateways must also remove them. */
export type Purge = (tags: readonly string[]) => unknown;

/**
 * Purges the stored responses that a write may have changed, before the client receives the response to the write
 * (docs/rules.md §6).
 */
export function purgeTags(purge: Purge): StagePlanner {
  return {
    name: 'purge-tags',
    plan({ operation, transparent }) {
      if (transparent || operation.purges.length === 0 || operation.method === 'GET') return undefined;
      const drop = ({ values }: Exchange) => purge(tagsOf(operation.purges, values().path));
      return (next) => async (exchange) => {
        try {
          const reply = await next(exchange);
          if (reply.status < 400 || reply.status >= 500) await drop(exchange);
          return reply;
        } catch (error) {
          if (!wasNotCarriedOut(error)) await drop(exchange);
          throw error;
        }
      };
    },
  };
}

/**
 * Returns whether a write was refused. If there was no response, for example because the client disconnected, the write
 * may still have taken effect.
 */
function wasNotCarriedOut(error: unknown): boolean {
  return error instanceof GatewayError && error.status < 500 && error.code !== 'client_closed';
}
