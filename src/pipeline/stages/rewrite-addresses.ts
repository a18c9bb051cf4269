import { etagOf } from '../../cache/etag-of.ts';
import { whenReady } from '../../lib/when-ready.ts';
import type { StagePlanner } from '../stage.ts';

/** Finds and rewrites absolute addresses of the legacy host in answers (rules, 11). */
export interface LegacyAddresses {
  /** True with `rewriteUrls: true`. */
  readonly rewrite: boolean;
  readonly find: (body: Buffer) => boolean;
  readonly replace: (body: Buffer, publicAddress: string) => Buffer;
  /** The address under which this client sees the gateway. */
  readonly publicAddress: (headers: { readonly host?: string | undefined }, protocol: string) => string;
}

/**
 * Rewrites legacy addresses in documented answers where the configuration says so. Outside the cache: the public address
 * is what this client calls, and one client's `Host` must not end up in what another one gets.
 */
export function rewriteAddresses(addresses: LegacyAddresses): StagePlanner {
  return {
    name: 'rewrite-addresses',
    plan({ transparent }) {
      if (transparent || !addresses.rewrite) return undefined;
      return (next) => (exchange) =>
        whenReady(next(exchange), (reply) => {
          if (!Buffer.isBuffer(reply.body) || !addresses.find(reply.body)) return reply;
          const { headers, protocol } = exchange.arrival;
          const body = addresses.replace(reply.body, addresses.publicAddress(headers, protocol));
          return { ...reply, body, ...(reply.etag === undefined ? {} : { etag: etagOf(body) }) };
        });
    },
  };
}
