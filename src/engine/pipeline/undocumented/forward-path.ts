import type { Clock } from '../../../lib/clock.ts';
import type { AttemptLog } from '../../model/trace.ts';
import { UpstreamFailure } from '../../model/upstream-failure.ts';
import { streamOwner } from '../../upstream/stream-owner.ts';
import type { Upstream } from '../../upstream/create-upstream.ts';
import type { Sessions } from '../../upstream/sessions.ts';
import { uploadOf } from '../../upstream/send-proxied.ts';
import { passthroughHeaders, transparentHeaders } from '../../upstream/headers.ts';
import type { PassthroughExchange } from '../exchange.ts';
import type { MessageObserver } from '../message-observer.ts';
import type { Reply } from '../reply.ts';
import type { Handler } from '../stage.ts';
import { lacksCredential, needsCallerCredential } from '../upstream-request.ts';
import { recordEnd, recordExceeded, recordFailedExchange, recordServerError } from '../upstream-incident.ts';

/** The services that forward requests to undocumented paths. */
export interface ForwardUndocumentedServices {
  readonly upstream: Pick<Upstream, 'exchange'>;
  /** The callers' sessions with the upstream. */
  readonly sessions: Sessions;
  /** True if requests and responses are forwarded unchanged, as in `observe` mode. */
  readonly transparent: boolean;
  /** True if response bodies are rewritten while they are streamed. */
  readonly rewriteUrls: boolean;
  readonly clock: Clock;
  /** Creates the log of an exchange's attempts. Undefined if spans are not exported. */
  readonly logAttempts?: ((traceparent: string) => AttemptLog) | undefined;
  /** Sees every response. Undefined if nobody observes responses. */
  readonly observeResponse?: MessageObserver['undocumentedResponse'] | undefined;
}

/** Creates the handler that forwards requests for undocumented paths. Bodies are streamed in both directions. */
export function forwardPath(services: ForwardUndocumentedServices): Handler<PassthroughExchange> {
  const {
    upstream,
    sessions,
    transparent,
    rewriteUrls: identityCoding,
    clock,
    logAttempts,
    observeResponse,
  } = services;
  return async ({ arrival, principal, clientGone, trace }) => {
    if (lacksCredential(principal)) throw needsCallerCredential('address', principal);
    const startedAt = clock();
    const seconds = () => Math.max(0, clock() - startedAt) / 1000;
    trace.route = 'passthrough';
    const { authorization } = principal;
    const { traceparent } = arrival;
    const upload = uploadOf(arrival);
    // The proxy library never retries an upload, so there are no further attempts to log.
    const log = upload === undefined ? logAttempts?.(traceparent) : undefined;
    const signal = clientGone?.();
    const owner = streamOwner(principal, arrival.clientAddress);
    try {
      const { status, reason, headers, body, attempts, exceeded } = await upstream.exchange({
        method: arrival.method,
        target: arrival.target,
        headers: transparent
          ? transparentHeaders(arrival)
          : passthroughHeaders(arrival, { authorization, identityCoding }),
        // A caller without a credential may log in with a cookie, so its cookies are forwarded in both directions.
        session: transparent || authorization === undefined ? undefined : sessions.of(authorization),
        mode: 'streamed',
        upload,
        owner: () => owner,
        log,
        ...(signal === undefined ? {} : { signal }),
      });
      trace.upstream = {
        status,
        shape: 'passed',
        startedAt,
        seconds: seconds(),
        attempts,
        traceparent,
        sent: log?.attempts,
      };
      if (exceeded !== undefined) recordExceeded(trace, exceeded);
      observeResponse?.(arrival, status);
      if (status >= 500) recordServerError(trace);
      if (!Buffer.isBuffer(body)) recordEnd(body, trace);
      return { status, headers, body, ...(reason === undefined ? {} : { reason }) } satisfies Reply;
    } catch (error) {
      if (error instanceof UpstreamFailure)
        recordFailedExchange(trace, error, { startedAt, seconds: seconds(), traceparent, sent: log?.attempts });
      throw error;
    }
  };
}
