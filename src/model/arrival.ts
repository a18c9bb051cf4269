import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

/** Scheme and host under which clients see the gateway. */
export interface PublicOrigin {
  /** `http` or `https`. */
  readonly protocol: string;
  /** With its port, where that is not the default one; undefined for a request without a host. */
  readonly host: string | undefined;
}

/** A request as it was received, read once and never changed. Scheme and host are the configured ones, else the client's. */
export interface Arrival extends PublicOrigin {
  readonly method: string;
  /** The request target as it was received. */
  readonly rawTarget: string;
  /** The raw request target in origin form, `publicBasePath` taken off, still in the client's own encoding. */
  readonly target: string;
  /** The raw path of the target. */
  readonly path: string;
  /** The raw query of the target without `?`; undefined when there is no `?`. */
  readonly query: string | undefined;
  /** The value of `Authorization`. */
  readonly authorization: string | undefined;
  /** Tokens and cookies that may identify the caller to the upstream beside `Authorization`; undefined where there is none. */
  readonly otherCredential: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  /** The client's address, after trusted proxies. */
  readonly clientAddress: string;
  readonly requestId: string;
  /** The W3C `traceparent` that is passed on. */
  readonly traceparent: string;
  readonly tracestate: string | undefined;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  /** The body, not yet read; never consumed twice. */
  readonly body: Readable;
}
