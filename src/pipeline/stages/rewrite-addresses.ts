import { etagOf } from '../../cache/representation.ts';
import type { PublicOrigin } from '../../model/arrival.ts';
import type { Exchange } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import type { StagePlanner } from '../stage.ts';

/** Finds and rewrites absolute addresses of the legacy host in responses (rules, 11). */
export interface LegacyAddresses {
  /** True if addresses are rewritten rather than only reported (`rewriteUrls: true`). */
  readonly rewrite: boolean;
  readonly find: (body: Buffer) => boolean;
  readonly replace: (body: Buffer, publicAddress: string) => Buffer;
  /** Returns the gateway's own address for a scheme and host. */
  readonly publicAddress: (origin: PublicOrigin) => string;
}

/**
 * Rewrites legacy addresses in documented responses if the configuration enables this. The stage runs outside the
 * cache, because without a configured `publicOrigin` the public address depends on the client's `Host` header and must
 * not be stored for other clients.
 */
export function rewriteAddresses(addresses: LegacyAddresses): StagePlanner {
  return {
    name: 'rewrite-addresses',
    plan({ transparent }) {
      if (transparent || !addresses.rewrite) return undefined;
      const rewrite = (exchange: Exchange, reply: Reply): Reply => {
        if (!Buffer.isBuffer(reply.body) || !addresses.find(reply.body)) return reply;
        const body = addresses.replace(reply.body, addresses.publicAddress(exchange.arrival));
        return { ...reply, body, ...(reply.etag === undefined ? {} : { etag: etagOf(body) }) };
      };
      return (next) => (exchange) => {
        const reply = next(exchange);
        return reply instanceof Promise ? reply.then((later) => rewrite(exchange, later)) : rewrite(exchange, reply);
      };
    },
  };
}
