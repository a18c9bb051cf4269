import type { PublicOrigin } from '../../model/arrival.ts';
import { headerValue, type HeaderPairs } from '../../model/header-pairs.ts';
import { StreamedBody } from '../../model/streamed-body.ts';
import type { Trace } from '../../model/trace.ts';
import { publicHeaders } from '../../upstream/response-headers.ts';
import { contentCodings } from '../../upstream/response-body.ts';
import {
  createLegacyAddressRewriter,
  createLegacyAddressScan,
  type LegacyAddresses,
} from '../../upstream/addresses.ts';
import type { PassthroughExchange } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import type { Stage } from '../stage.ts';

/** Options for handling the legacy server's addresses in responses from undocumented paths. */
export interface AddressServices {
  readonly legacy: LegacyAddresses;
  /** True if addresses in bodies are also rewritten (rules, 11). */
  readonly rewriteUrls: boolean;
  /** Returns the gateway's own address for a scheme and host. */
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

/** Reports addresses of the legacy server in bodies, which are forwarded unchanged. */
export function findAddresses({ legacy }: Pick<AddressServices, 'legacy'>): Stage<PassthroughExchange> {
  return (next) => async (exchange) => {
    const reply = await next(exchange);
    reportAddresses(reply, exchange.trace, legacy);
    return reply;
  };
}

function reportAddresses({ headers, body }: Reply, trace: Trace, legacy: LegacyAddresses): void {
  if (Buffer.isBuffer(body) || !isText(headers)) return;
  body.onPart(
    createLegacyAddressScan(legacy, () => {
      trace.legacyAddress = true;
    }),
  );
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

// Encoded bodies are neither read nor rewritten.
function isText(headers: HeaderPairs): boolean {
  const type = headerValue(headers, 'content-type') ?? '';
  return (
    contentCodings(headers).length === 0 &&
    /^\s*(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript))/i.test(type)
  );
}

// The length and any strong validator describe the original bytes, so they would be wrong for the rewritten ones.
function changedLength(headers: HeaderPairs): HeaderPairs {
  return headers.flatMap(([name, value]): HeaderPairs => {
    const key = name.toLowerCase();
    if (/^(?:content-length|content-md5|digest|content-digest|repr-digest|accept-ranges)$/.test(key)) return [];
    return [[name, key === 'etag' && !value.startsWith('W/') ? `W/${value}` : value]];
  });
}
