import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

/** The scheme and host through which clients reach the gateway. */
export interface PublicOrigin {
  /** `http` or `https`. */
  readonly protocol: string;
  /** The host, and the port unless it is the default. Undefined for a request without a host. */
  readonly host: string | undefined;
}

/**
 * A request as received. It is never changed. The scheme and host are the configured ones, or those of the client's
 * request.
 */
export interface Arrival extends PublicOrigin {
  readonly method: string;
  /** The request target as received. */
  readonly rawTarget: string;
  /** The raw request target in origin form, without `publicBasePath`, in the client's own encoding. */
  readonly target: string;
  /** The raw path of the target. */
  readonly path: string;
  /** The raw query of the target without `?`. Undefined if there is no `?`. */
  readonly query: string | undefined;
  /** The value of the `Authorization` header. */
  readonly authorization: string | undefined;
  /**
   * Tokens and cookies by which the upstream may identify the caller, in addition to `Authorization`. Undefined if
   * there are none.
   */
  readonly otherCredential: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Alternating header names and values, as received. */
  readonly rawHeaders: readonly string[];
  /** The client's address. Behind trusted proxies, it is taken from their headers. */
  readonly clientAddress: string;
  /** An object that identifies the client's connection. Undefined for the gateway's own requests. */
  readonly connection?: object;
  readonly requestId: string;
  /** The W3C `traceparent` header that is forwarded. */
  readonly traceparent: string;
  readonly tracestate: string | undefined;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  /** The unread body. It can be read only once. */
  readonly body: Readable;
}
