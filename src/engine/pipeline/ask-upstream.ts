import type { PublicOrigin } from '../model/arrival.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Upstream } from '../upstream/create-upstream.ts';
import { requestHeaders, sharedForwardingHeaders, sharedIdentity } from '../upstream/headers.ts';
import type { DecodedResponse } from '../upstream/response-body.ts';
import type { Sessions } from '../upstream/sessions.ts';

/** The account with which a feature asks the upstream, and what ends the request. */
export interface AskingAs {
  /** The value of the `Authorization` header. */
  readonly authorization: string;
  readonly signal: AbortSignal;
}

/**
 * Sends a safe request of the gateway's own, for which no client waits, see {@link Upstream.exchangeAside}. `target` is
 * the raw path and query, relative to the base address. Returns undefined if the request is not sent, because the
 * upstream has no free slot or its circuit is not closed. Rejects with an `UpstreamFailure`.
 */
export type AskUpstream = (target: string, as: AskingAs) => Promise<DecodedResponse> | undefined;

/** Creates the function that sends requests of the gateway's own. */
export function createAsk(
  upstream: Pick<Upstream, 'exchangeAside'>,
  sessions: Pick<Sessions, 'of' | 'drop'>,
  publicOrigin: PublicOrigin | undefined,
): AskUpstream {
  return (target, { authorization, signal }) => {
    const headers = requestHeaders(authorization, sharedForwardingHeaders(sharedIdentity(), publicOrigin));
    try {
      return upstream
        .exchangeAside({ method: 'GET', target, headers, session: sessions.of(authorization), signal })
        ?.then((response) => {
          if (response.status === 401) sessions.drop(authorization);
          return response;
        });
    } catch (error) {
      if (error instanceof GatewayError) return undefined;
      throw error;
    }
  };
}
