import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import proxyAddress from 'proxy-addr';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Clock } from '../lib/clock.ts';
import type { Arrival, PublicOrigin } from '../model/arrival.ts';
import { isHarmlessId } from '../privacy/client-text.ts';
import { unsafeTargetReason } from '../pipeline/unsafe-path.ts';
import { traceContext } from '../telemetry/trace-context.ts';
import { createHeaderReader, type RequestHeaders } from './request-headers.ts';

/** Limits on request targets, and the public address of the gateway. */
export interface ArrivalOptions {
  readonly maxTargetBytes: number;
  /** A prefix that clients put before `/services/v2/…`, for example `/qa`, or an empty string. */
  readonly publicBasePath: string;
  /** The configured scheme and host of the public side. Undefined if those sent by each client are used. */
  readonly publicOrigin: PublicOrigin | undefined;
  /** Addresses and networks of the proxies whose `X-Forwarded-*` headers are trusted. */
  readonly trustedProxies: readonly string[];
  readonly clock: Clock;
}

/** Returns the id of a request for logs and responses: the client's own id if it is safe, otherwise a new one. */
export function requestIdOf(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && isHarmlessId(sent) ? sent : randomUUID();
}

/** Creates the function that reads requests. */
export function createArrivalReader(options: ArrivalOptions): (req: IncomingMessage) => HttpArrival {
  const readHeaders = createHeaderReader();
  const setup: ArrivalSetup = { ...options, isTrusted: proxyAddress.compile([...options.trustedProxies]) };
  return (req) => new HttpArrival(req, readHeaders(req.rawHeaders), setup);
}

interface ArrivalSetup extends ArrivalOptions {
  readonly isTrusted: (address: string, hop: number) => boolean;
}

/**
 * A request on the public side. Values that take work to compute are computed on first use, because a request that is
 * served from the cache needs few of them.
 */
export class HttpArrival implements Arrival {
  readonly method: string;
  readonly rawTarget: string;
  readonly requestId: string;
  readonly traceparent: string;
  readonly tracestate: string | undefined;
  readonly receivedAt: number;
  readonly authorization: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly acceptEncoding: string | undefined;
  readonly body: Readable;
  readonly #request: IncomingMessage;
  readonly #headers: RequestHeaders;
  readonly #setup: ArrivalSetup;
  /**
   * Read immediately, because a closed socket no longer has an address and work may continue after the client has left.
   */
  readonly #peerAddress: string;
  #parts: TargetParts | undefined;

  constructor(request: IncomingMessage, headers: RequestHeaders, setup: ArrivalSetup) {
    const { traceparent, tracestate } = traceContext(headers);
    this.method = request.method ?? '';
    this.rawTarget = request.url ?? '';
    this.requestId = requestIdOf(headers.requestId);
    this.traceparent = traceparent;
    this.tracestate = tracestate;
    this.receivedAt = setup.clock();
    this.authorization = headers.authorization;
    this.ifNoneMatch = headers.ifNoneMatch;
    this.acceptEncoding = headers.acceptEncoding;
    this.body = request;
    this.#request = request;
    this.#headers = headers;
    this.#setup = setup;
    this.#peerAddress = request.socket.remoteAddress ?? '';
  }

  /** Throws 417 for an expectation that cannot be met (RFC 9110 §10.1.1). Node has already handled `100-continue`. */
  checkExpectation(): void {
    const { expect } = this.#headers;
    if (expect === undefined || expect.trim().toLowerCase() === '100-continue') return;
    throw new GatewayError('expectation_failed', 'No expectation but 100-continue can be met.', {
      details: [{ in: 'header', name: 'Expect', message: 'leave it out, or send 100-continue' }],
    });
  }

  get target(): string {
    return this.#target.target;
  }

  get path(): string {
    return this.#target.path;
  }

  get query(): string | undefined {
    return this.#target.query;
  }

  get otherCredential(): string | undefined {
    const { authToken, cookie } = this.#headers;
    if (authToken === undefined && cookie === undefined) return undefined;
    const text = [authToken, cookie].join('\n').trim();
    return text === '' ? undefined : text;
  }

  get headers(): IncomingHttpHeaders {
    return this.#request.headers;
  }

  get rawHeaders(): readonly string[] {
    return this.#request.rawHeaders;
  }

  get clientAddress(): string {
    const { trustedProxies, isTrusted } = this.#setup;
    if (trustedProxies.length === 0 || this.#peerAddress === '') return this.#peerAddress;
    return proxyAddress(this.#request, isTrusted);
  }

  get protocol(): string {
    return this.#setup.publicOrigin?.protocol ?? this.#clientProtocol;
  }

  get host(): string | undefined {
    return this.#setup.publicOrigin?.host ?? this.#headers.host;
  }

  get #clientProtocol(): string {
    const { socket, headers } = this.#request;
    const own = 'encrypted' in socket ? 'https' : 'http';
    const { trustedProxies, isTrusted } = this.#setup;
    if (trustedProxies.length === 0 || !isTrusted(this.#peerAddress, 0)) return own;
    return headers['x-forwarded-proto']?.toString().split(',', 1)[0]?.trim() || own;
  }

  get #target(): TargetParts {
    return (this.#parts ??= readTarget(this.rawTarget, this.#setup));
  }
}

interface TargetParts {
  readonly target: string;
  readonly path: string;
  readonly query: string | undefined;
}

const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i;

/** Throws 400, 404 or 414 for a target that is refused in every mode (rules, 1). */
function readTarget(raw: string, { maxTargetBytes, publicBasePath }: ArrivalOptions): TargetParts {
  if (raw.length > maxTargetBytes)
    throw new GatewayError('target_too_long', `The request target is longer than ${maxTargetBytes} bytes.`);
  const origin = raw.startsWith('/') ? raw : raw.replace(ABSOLUTE_FORM, '');
  const target = withoutBasePath(origin.startsWith('?') ? `/${origin}` : origin, publicBasePath);
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? undefined : target.slice(mark + 1);
  const reason = unsafeTargetReason(path, query);
  if (reason !== undefined)
    throw new GatewayError('unsafe_path', `This request target is refused: ${reason}.`, {
      details: [{ in: 'path', message: `${reason}; send the path of the resource itself` }],
    });
  return { target, path, query };
}

function withoutBasePath(target: string, basePath: string): string {
  if (basePath === '') return target;
  const rest = target.slice(basePath.length);
  if (target.startsWith(basePath) && (rest === '' || rest.startsWith('/') || rest.startsWith('?')))
    return rest.startsWith('/') ? rest : `/${rest}`;
  throw new GatewayError('not_in_contract', `Addresses of this gateway start with ${basePath}/.`, {
    details: [{ in: 'path', message: `the public base path is ${basePath}` }],
  });
}
