import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Arrival } from '../model/arrival.ts';
import type { RequestIdentity } from './read-arrival.ts';

/** The arrival of a recognised request: read whole only when something asks for more than its names. */
export class LateArrival implements Arrival {
  readonly method: string;
  readonly requestId: string;
  readonly traceparent: string;
  readonly tracestate: string | undefined;
  readonly receivedAt: number;
  readonly #read: () => Arrival;
  #whole: Arrival | undefined;

  constructor(method: string, identity: RequestIdentity, read: () => Arrival) {
    this.method = method;
    this.requestId = identity.requestId;
    this.traceparent = identity.traceparent;
    this.tracestate = identity.tracestate;
    this.receivedAt = identity.receivedAt;
    this.#read = read;
  }

  get target(): string {
    return this.#all.target;
  }

  get path(): string {
    return this.#all.path;
  }

  get query(): string | undefined {
    return this.#all.query;
  }

  get headers(): IncomingHttpHeaders {
    return this.#all.headers;
  }

  get rawHeaders(): readonly string[] {
    return this.#all.rawHeaders;
  }

  get clientAddress(): string {
    return this.#all.clientAddress;
  }

  get protocol(): string {
    return this.#all.protocol;
  }

  get host(): string | undefined {
    return this.#all.host;
  }

  get body(): Readable {
    return this.#all.body;
  }

  get #all(): Arrival {
    return (this.#whole ??= this.#read());
  }
}
