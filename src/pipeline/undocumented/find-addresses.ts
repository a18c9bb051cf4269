import { headerValue, type HeaderPairs } from '../../model/header-pairs.ts';
import type { Trace } from '../../model/trace.ts';
import { createLegacyAddressScan } from '../../upstream/addresses.ts';
import type { LegacyAddresses } from '../../upstream/legacy-addresses.ts';
import { contentCodings } from '../../upstream/response-body.ts';
import type { PassthroughExchange } from '../exchange.ts';
import type { Stage } from '../stage.ts';
import type { Reply } from '../reply.ts';

/** Reports addresses of the legacy server in bodies, which are forwarded unchanged. */
export function findAddresses({ legacy }: { readonly legacy: LegacyAddresses }): Stage<PassthroughExchange> {
  return (next) => async (exchange) => {
    const reply = await next(exchange);
    reportAddresses(reply, exchange.trace, legacy);
    return reply;
  };
}

/** Searches a streamed body for addresses of the legacy server. The trace records whether the body contains any. */
export function reportAddresses({ headers, body }: Reply, trace: Trace, legacy: LegacyAddresses): void {
  if (Buffer.isBuffer(body) || !isText(headers)) return;
  body.onPart(
    createLegacyAddressScan(legacy, () => {
      trace.legacyAddress = true;
    }),
  );
}

/** Returns whether a body can contain addresses. Encoded bodies are neither searched nor rewritten. */
export function isText(headers: HeaderPairs): boolean {
  const type = headerValue(headers, 'content-type') ?? '';
  return (
    contentCodings(headers).length === 0 &&
    /^\s*(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript))/i.test(type)
  );
}
