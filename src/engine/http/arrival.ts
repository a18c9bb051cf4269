import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import proxyAddress from 'proxy-addr';
import type { Settings } from '../config/settings.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Arrival, type PublicOrigin, publicOriginOf } from '../model/arrival.ts';
import { unsafeTargetReason } from '../pipeline/targets.ts';
import { isHarmlessId } from '../privacy/shown-text.ts';
import { sampledContext, type Sampling, type TraceContext, traceContext } from '../telemetry/trace-context.ts';

/**
 * Options for reading requests: the limit on targets, the gateway's public address, the trusted proxies and trace
 * sampling.
 */
export interface ArrivalOptions {
  readonly maxTargetBytes: number;
  /** The prefix before `/services/v2/…` in clients' targets, such as `/qa`. Empty if there is none. */
  readonly publicBasePath: string;
  /** The configured public scheme and host. If undefined, each request's own scheme and host are used. */
  readonly publicOrigin: PublicOrigin | undefined;
  /** The addresses and networks of the proxies whose `X-Forwarded-*` headers are trusted. */
  readonly trustedProxies: readonly string[];
  /** Determines which traces are sampled. Undefined if span export is off. */
  readonly sampling?: Sampling | undefined;
  readonly clock: Clock;
}

/** Returns the configured options for reading requests, except for the sampling of traces. */
export function arrivalOptions(settings: Settings, clock: Clock): Omit<ArrivalOptions, 'sampling'> {
  return {
    maxTargetBytes: settings.listen.maxTargetBytes,
    publicBasePath: settings.publicBasePath,
    publicOrigin: publicOriginOf(settings.publicOrigin),
    trustedProxies: settings.listen.trustedProxies,
    clock,
  };
}

/** Returns the request id for logs and responses: the client's own id if it is safe to log, or a new id. */
export function requestIdOf(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && isHarmlessId(sent) ? sent : randomUUID();
}

/** Creates the function that converts Node's requests to the form that the gateway uses. */
export function createArrivalReader(options: ArrivalOptions): (req: IncomingMessage) => HttpArrival {
  const { sampling } = options;
  const isTrusted = proxyAddress.compile([...options.trustedProxies]);
  const readContext: ArrivalSetup['readContext'] =
    sampling === undefined
      ? traceContext
      : (headers, { remoteAddress }) =>
          sampledContext(headers, sampling, remoteAddress !== undefined && isTrusted(remoteAddress, 0));
  const setup: ArrivalSetup = { ...options, isTrusted, readContext };
  return (req) => new HttpArrival(req, setup);
}

interface ArrivalSetup extends ArrivalOptions {
  readonly isTrusted: (address: string, hop: number) => boolean;
  readonly readContext: (headers: IncomingHttpHeaders, socket: IncomingMessage['socket']) => TraceContext;
}

/**
 * A request on the public side. Most values are computed on first use, because a request served from the cache needs
 * only a few of them.
 */
export class HttpArrival implements Arrival {
  readonly method: string;
  readonly rawTarget: string;
  readonly requestId: string;
  readonly traceparent: string;
  readonly tracestate: string | undefined;
  /** The id of Portico's own span for the request, as used in `traceparent`. */
  readonly ownSpan: string;
  readonly parentSpanId: string | undefined;
  readonly receivedAt: number;
  readonly authorization: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly acceptEncoding: string | undefined;
  readonly body: Readable;
  readonly connection: object;
  readonly #request: IncomingMessage;
  readonly #setup: ArrivalSetup;
  /**
   * The client's address. It is read in advance, because a closed socket no longer provides it, and the socket may
   * close while the request is still in progress.
   */
  readonly #peerAddress: string;
  #parts: TargetParts | undefined;

  constructor(request: IncomingMessage, setup: ArrivalSetup) {
    // Reading `headers` costs little here, because Node has already built the object to check for `Expect`.
    const { headers } = request;
    const { traceparent, tracestate, own, parentId } = setup.readContext(headers, request.socket);
    this.method = request.method ?? '';
    this.rawTarget = request.url ?? '';
    this.requestId = requestIdOf(headers['x-request-id']);
    this.traceparent = traceparent;
    this.tracestate = tracestate;
    this.ownSpan = own;
    this.parentSpanId = parentId;
    this.receivedAt = setup.clock();
    this.authorization = headers.authorization;
    this.ifNoneMatch = headers['if-none-match'];
    this.acceptEncoding = headers['accept-encoding'];
    this.body = request;
    this.connection = request.socket;
    this.#request = request;
    this.#setup = setup;
    this.#peerAddress = request.socket.remoteAddress ?? '';
  }

  /**
   * Throws a 417 error if the `Expect` header contains an unsupported expectation (RFC 9110 §10.1.1). Node has already
   * handled `100-continue`.
   */
  checkExpectation(): void {
    const { expect } = this.#request.headers;
    if (expect === undefined || expect.trim().toLowerCase() === '100-continue') return;
    throw new GatewayError('expectation_failed', 'The only supported expectation is 100-continue.', {
      details: [{ in: 'header', name: 'Expect', message: 'omit the header, or send 100-continue' }],
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
    const { 'x-auth-token': authToken, cookie } = this.#request.headers;
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
    return clientBehind(this.#peerAddress, this.#request.headers['x-forwarded-for'], isTrusted);
  }

  get protocol(): string {
    return this.#setup.publicOrigin?.protocol ?? this.#clientProtocol;
  }

  get host(): string | undefined {
    return this.#setup.publicOrigin?.host ?? this.#request.headers.host;
  }

  get #clientProtocol(): string {
    const { socket, headers } = this.#request;
    const own = 'encrypted' in socket ? 'https' : 'http';
    const { trustedProxies, isTrusted } = this.#setup;
    if (trustedProxies.length === 0 || !isTrusted(this.#peerAddress, 0)) return own;
    const [sent = ''] = headers['x-forwarded-proto']?.toString().toLowerCase().split(',', 1) ?? [];
    // The scheme becomes part of addresses in responses, so an invalid scheme is ignored.
    return SCHEME.test(sent.trim()) ? sent.trim() : own;
  }

  get #target(): TargetParts {
    return (this.#parts ??= readTarget(this.rawTarget, this.#setup));
  }
}

const SCHEME = /^https?$/;

/**
 * Returns the address of the client behind the trusted proxies. Each proxy appends the address from which it received
 * the request, so the list is read from its end. The result is the first address that does not belong to a trusted
 * proxy. Reading also stops at an entry that is not an address.
 */
function clientBehind(peer: string, list: string | string[] | undefined, isTrusted: ArrivalSetup['isTrusted']): string {
  let nearest = peer;
  const entries = list === undefined ? [] : String(list).split(',').reverse();
  for (const [hop, entry] of entries.entries()) {
    if (!isTrusted(nearest, hop)) return nearest;
    const address = withoutPort(entry.trim());
    if (isIP(address) === 0) return nearest;
    nearest = address;
  }
  return nearest;
}

/**
 * Returns an address without the port that some proxies append. If an IPv6 address has a port, the address is in
 * brackets.
 */
function withoutPort(text: string): string {
  const [, bracketed, ipv4] = /^"?(?:\[([\da-f:.]+)\](?::\d+)?|([\d.]+):\d+)"?$/i.exec(text) ?? [];
  return bracketed ?? ipv4 ?? text;
}

interface TargetParts {
  readonly target: string;
  readonly path: string;
  readonly query: string | undefined;
}

const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i;

/** Parses a target. Throws a 400, 404 or 414 error for targets that are refused in every mode (docs/rules.md §1). */
function readTarget(raw: string, { maxTargetBytes, publicBasePath }: ArrivalOptions): TargetParts {
  if (raw.length > maxTargetBytes)
    throw new GatewayError('target_too_long', `The request target is longer than ${maxTargetBytes} bytes.`);
  const origin = raw.startsWith('/') ? raw : raw.replace(ABSOLUTE_FORM, '');
  // An absolute URL can end after its host (RFC 9112 §3.2.2).
  const hasPath = !origin.startsWith('?') && (origin !== '' || raw === '');
  const target = withoutBasePath(hasPath ? origin : `/${origin}`, publicBasePath);
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
