import { pipeline } from 'node:stream';
import type { PublicOrigin } from '../../model/arrival.ts';
import { headerValue, type HeaderPairs } from '../../model/header-pairs.ts';
import { publicHeaders } from '../../upstream/response-headers.ts';
import { contentCodings } from '../../upstream/response-body.ts';
import {
  createLegacyAddressRewriter,
  createLegacyAddressScan,
  type LegacyAddresses,
} from '../../upstream/addresses.ts';
import type { PassthroughExchange } from '../exchange.ts';
import type { Stage } from '../stage.ts';

/** Options for addresses of the legacy server in responses from undocumented paths. */
export interface AddressServices {
  readonly legacy: LegacyAddresses;
  /** True if addresses in bodies are rewritten too (rules, 11). */
  readonly rewriteUrls: boolean;
  /** Returns the address of the gateway under an origin. */
  readonly publicAddress: (origin: PublicOrigin) => string;
}

/** Replaces the legacy address with the public one in headers, and in bodies if the configuration enables it. */
export function rewriteAddresses(services: AddressServices): Stage<PassthroughExchange> {
  const { legacy, rewriteUrls, publicAddress } = services;
  const report = findAddresses(services);
  const rewritten: Stage<PassthroughExchange> = (next) => async (exchange) => {
    const address = publicAddress(exchange.arrival);
    const reply = await next(exchange);
    const headers = publicHeaders(reply.headers, legacy, address);
    if (!rewriteUrls || Buffer.isBuffer(reply.body) || !isText(headers)) return { ...reply, headers };
    const body = createLegacyAddressRewriter(legacy, address);
    pipeline(reply.body, body, () => undefined);
    return { ...reply, headers: changedLength(headers), body };
  };
  return rewriteUrls ? rewritten : (next) => rewritten(report(next));
}

/** Reports addresses of the legacy server in bodies, which are forwarded unchanged. */
export function findAddresses({ legacy }: Pick<AddressServices, 'legacy'>): Stage<PassthroughExchange> {
  return (next) => async (exchange) => {
    const reply = await next(exchange);
    if (!Buffer.isBuffer(reply.body) && isText(reply.headers)) {
      const scan = createLegacyAddressScan(legacy, () => {
        exchange.trace.legacyAddress = true;
      });
      // Observes the chunks without starting the flow before the reader is ready.
      reply.body.on('data', scan).pause();
    }
    return reply;
  };
}

// Encoded bodies are neither read nor rewritten.
function isText(headers: HeaderPairs): boolean {
  const type = headerValue(headers, 'content-type') ?? '';
  return (
    contentCodings(headers).length === 0 &&
    /^\s*(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript))/i.test(type)
  );
}

// The length and strong validators describe the original bytes and do not apply to the rewritten ones.
function changedLength(headers: HeaderPairs): HeaderPairs {
  return headers.flatMap(([name, value]): HeaderPairs => {
    const key = name.toLowerCase();
    if (/^(?:content-length|content-md5|digest|content-digest|repr-digest|accept-ranges)$/.test(key)) return [];
    return [[name, key === 'etag' && !value.startsWith('W/') ? `W/${value}` : value]];
  });
}
