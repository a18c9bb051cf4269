import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

/** The scheme and host that clients use to reach the gateway. */
export interface PublicOrigin {
  /** The scheme: `http` or `https`. */
  readonly protocol: string;
  /** The host, with the port unless it is the default. Undefined for a request without a host. */
  readonly host: string | undefined;
}

/** Parses the configured `publicOrigin`. Returns undefined if it is not configured. */
export function publicOriginOf(configured: string | undefined): PublicOrigin | undefined {
  if (configured === undefined) return undefined;
  const { protocol, host } = new URL(configured);
  return { protocol: protocol.slice(0, -1), host };
}

/** A request as received. It never changes. The scheme and host come from the configuration or the client. */
export interface Arrival extends PublicOrigin {
  readonly method: string;
  /** The request target as received. */
  readonly rawTarget: string;
  /** The raw target in origin form, without `publicBasePath` and in its original encoding. */
  readonly target: string;
  /** The raw path of the target. */
  readonly path: string;
  /** The raw query of the target, without the `?`. Undefined if there is no `?`. */
  readonly query: string | undefined;
  /** The value of the `Authorization` header. */
  readonly authorization: string | undefined;
  /**
   * Tokens and cookies, other than `Authorization`, that might identify the caller to the upstream. Undefined if there
   * are none.
   */
  readonly otherCredential: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Alternating header names and values, as received. */
  readonly rawHeaders: readonly string[];
  /**
   * The client's address. If the request came through trusted proxies, the address is taken from the forwarding
   * headers.
   */
  readonly clientAddress: string;
  /** An object that identifies the client's connection. Undefined for the gateway's own requests. */
  readonly connection?: object;
  readonly requestId: string;
  /** The W3C `traceparent` header to forward. */
  readonly traceparent: string;
  readonly tracestate: string | undefined;
  /** The id of the caller's span. Undefined if Portico started the trace. */
  readonly parentSpanId?: string | undefined;
  /** The time of receipt, in epoch milliseconds. */
  readonly receivedAt: number;
  /** The body, which can be read only once. */
  readonly body: Readable;
}

/**
 * The part of `AbortSignal` that indicates whether the caller is still waiting. Creating a real signal for every
 * request would be too slow.
 */
export interface Cancellation {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
