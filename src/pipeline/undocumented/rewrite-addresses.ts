import type { PublicOrigin } from '../../model/arrival.ts';
import type { HeaderPairs } from '../../model/header-pairs.ts';
import { StreamedBody } from '../../model/streamed-body.ts';
import { createLegacyAddressRewriter } from '../../upstream/addresses.ts';
import type { LegacyAddresses } from '../../upstream/legacy-addresses.ts';
import type { PassthroughExchange } from '../exchange.ts';
import type { Stage } from '../stage.ts';
import { isText, reportAddresses } from './find-addresses.ts';
import { publicHeaders } from './public-headers.ts';

/** Options for handling the legacy server's addresses in responses from undocumented paths. */
export interface AddressServices {
  readonly legacy: LegacyAddresses;
  /** True if addresses are rewritten in bodies too (rules, 11). */
  readonly rewriteUrls: boolean;
  /** Returns the gateway's public base address for a scheme and host. */
  readonly publicAddress: (origin: PublicOrigin) => string;
}

/** Replaces the legacy address with the public one in headers and, if configured, in bodies. */
export function rewriteAddresses({ legacy, rewriteUrls, publicAddress }: AddressServices): Stage<PassthroughExchange> {
  return (next) => async (exchange) => {
    const reply = await next(exchange);
    const address = publicAddress(exchange.arrival);
    const headers = publicHeaders(reply.headers, legacy, address);
    if (!rewriteUrls) reportAddresses(reply, exchange.trace, legacy);
    if (!rewriteUrls || Buffer.isBuffer(reply.body) || !isText(headers)) return { ...reply, headers };
    return { ...reply, headers: changedLength(headers), body: rewrittenBody(reply.body, legacy, address) };
  };
}

function rewrittenBody(received: StreamedBody, legacy: LegacyAddresses, address: string): StreamedBody {
  const rewriter = createLegacyAddressRewriter(legacy, address);
  let isFull = false;
  const rewritten = new StreamedBody({
    pause: () => (isFull = true),
    resume() {
      isFull = false;
      received.resume();
    },
    abort: (reason) => received.destroy(reason),
  });
  received.read({
    part(bytes) {
      rewritten.push(rewriter.part(bytes));
      return !isFull;
    },
    end(failure) {
      if (failure === undefined) rewritten.push(rewriter.rest());
      rewritten.finish(failure);
    },
  });
  return rewritten;
}

// The length and any strong validator describe the original bytes, so they do not apply to the rewritten bytes.
function changedLength(headers: HeaderPairs): HeaderPairs {
  return headers.flatMap(([name, value]): HeaderPairs => {
    const key = name.toLowerCase();
    if (/^(?:content-length|content-md5|digest|content-digest|repr-digest|accept-ranges)$/.test(key)) return [];
    return [[name, key === 'etag' && !value.startsWith('W/') ? `W/${value}` : value]];
  });
}
