import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

/** The scheme and host under which clients reach the gateway. */
export interface PublicOrigin {
  /** `http` or `https`. */
  readonly protocol: string;
  /** The host, with the port unless it is the default; undefined for a request without a host. */
  readonly host: string | undefined;
}

/** A request as received; never changed. Scheme and host are the configured ones, otherwise the client's. */
export interface Arrival extends PublicOrigin {
  readonly method: string;
  /** The request target as received. */
  readonly rawTarget: string;
  /** The raw request target in origin form, without `publicBasePath`, in the client's own encoding. */
  readonly target: string;
  /** The raw path of the target. */
  readonly path: string;
  /** The raw query of the target without `?`; undefined if there is no `?`. */
  readonly query: string | undefined;
  /** The value of `Authorization`. */
  readonly authorization: string | undefined;
  /**
   * Tokens and cookies that may identify the caller to the upstream besides `Authorization`; undefined if there are
   * none.
   */
  readonly otherCredential: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Alternating names and values, as received. */
  readonly rawHeaders: readonly string[];
  /** The client's address, determined through trusted proxies. */
  readonly clientAddress: string;
  /** Identifies the client's connection. Undefined for requests of the gateway itself. */
  readonly connection?: object;
  readonly requestId: string;
  /** The W3C `traceparent` that is forwarded. */
  readonly traceparent: string;
  readonly tracestate: string | undefined;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  /** The unread body; consumed at most once. */
  readonly body: Readable;
}
