import { etagOf } from '../../cache/representation.ts';
import type { PublicOrigin } from '../../model/arrival.ts';
import type { Exchange } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import type { StagePlanner } from '../stage.ts';

/** Rewrites absolute addresses of the legacy host in responses (docs/rules.md §11). */
export interface LegacyAddresses {
  /** True if addresses are rewritten (`rewriteUrls: true`) rather than only reported. */
  readonly rewrite: boolean;
  /**
   * Returns the body with the legacy addresses replaced, or the body itself if it contains none. The result is a
   * promise if the body is long.
   */
  readonly replace: (body: Buffer, publicAddress: string) => Buffer | Promise<Buffer>;
  /** Returns the gateway's public base address for a scheme and host. */
  readonly publicAddress: (origin: PublicOrigin) => string;
}

/**
 * Rewrites legacy addresses in responses for documented operations if the configuration enables rewriting. The stage
 * runs outside the cache, because the public address depends on the client's `Host` header unless `publicOrigin` is
 * configured. A rewritten response must therefore not be stored for other clients.
 */
export function rewriteAddresses(addresses: LegacyAddresses): StagePlanner {
  return {
    name: 'rewrite-addresses',
    plan({ transparent }) {
      if (transparent || !addresses.rewrite) return undefined;
      const rewrite = (exchange: Exchange, reply: Reply): Reply | Promise<Reply> => {
        if (!Buffer.isBuffer(reply.body) || reply.facts?.namesUpstream === false) return reply;
        const body = addresses.replace(reply.body, addresses.publicAddress(exchange.arrival));
        return Buffer.isBuffer(body) ? withBody(reply, body) : body.then((written) => withBody(reply, written));
      };
      return (next) => (exchange) => {
        const reply = next(exchange);
        return reply instanceof Promise ? reply.then((later) => rewrite(exchange, later)) : rewrite(exchange, reply);
      };
    },
  };
}

/** Returns the reply with a different body. An entity tag is replaced with the tag of the new body. */
function withBody(reply: Reply, body: Buffer): Reply {
  if (body === reply.body) return reply;
  return { ...reply, body, ...(reply.etag === undefined ? {} : { etag: etagOf(body) }) };
}
