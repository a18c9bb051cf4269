import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Readable, PassThrough, pipeline, Writable } from 'node:stream';
import { createProxyMiddleware, type Plugin } from 'http-proxy-middleware';
import { createSilenceWatch } from '../../lib/silence-watch.ts';
import { headerPairs, type HeaderPairs } from '../model/header-pairs.ts';
import { StreamedBody } from '../model/streamed-body.ts';
import type { FailureCause } from '../model/failure-cause.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import { readAfterWriteError } from '../node-internals/failed-writes.ts';
import { MAX_INTERIM_RESPONSES } from './connections.ts';
import { readHead, type Stop, type StreamedResponse } from './sending.ts';
import { toTransportFailure, type ExchangePhase } from './failures/transport-failure.ts';
import type { ExchangeSession } from './sessions.ts';
import type { UpstreamOptions } from './upstream-options.ts';
import { readBody } from '../../lib/read-body.ts';
import type { Arrival } from '../model/arrival.ts';

/** The limits for sending a request with a body. */
interface ProxiedBounds {
  /** Stops the exchange. The reason becomes the exchange's error. */
  readonly stop: Stop;
  readonly options: Pick<
    UpstreamOptions,
    'connectTimeoutMs' | 'headersTimeoutMs' | 'bodyTimeoutMs' | 'clientTimeoutMs'
  >;
}

/** The cause reported if the upstream sends nothing for too long, by phase of the exchange. */
const SILENT: Readonly<Record<ExchangePhase, FailureCause>> = {
  connecting: 'connection_timeout',
  waiting: 'http_response_timeout',
  body: 'connection_read_timeout',
};

/** Sends a request with its body, and resolves with the head of the response. Rejects with an `UpstreamFailure`. */
export function sendProxied(
  proxy: Proxy,
  request: ProxiedRequest,
  { stop, options }: ProxiedBounds,
): Promise<StreamedResponse> {
  return new Promise((resolve, reject) => {
    if (stop.reason) return reject(stop.reason);
    const patienceMs = options.clientTimeoutMs;
    let phase: ExchangePhase = 'connecting';
    let outgoing: ClientRequest | undefined;
    let incoming: IncomingMessage | undefined;
    let body: StreamedBody | undefined;
    let ended = false;
    let uploadBroke = false;

    const watch = createSilenceWatch((end) =>
      fail(
        end === 'silence'
          ? new UpstreamFailure('deadline', { failureCause: SILENT[phase] })
          : new UpstreamFailure('aborted'),
      ),
    );
    const finish = () => {
      ended = true;
      watch.stop();
      stop.listen(undefined);
      outgoing?.destroy();
      end();
    };
    const fail = (error: unknown) => {
      if (ended) return;
      finish();
      const isClients = request.body instanceof Readable && request.body.errored !== null;
      const failure = isClients ? new UpstreamFailure('aborted', { cause: error }) : toTransportFailure(error, phase);
      if (body) body.finish(failure);
      else reject(failure);
    };
    // Once the last byte of the response has arrived, connection errors no longer affect the client.
    const onError = (error: unknown) => {
      if (incoming?.complete !== true) fail(error);
    };

    const onRequest = (given: ClientRequest, upload: Readable) => {
      outgoing = given;
      if (ended) return void given.destroy();
      // The proxy library reports most errors one turn of the event loop later. By then, a body without a length would
      // look complete, because Node would have ended it normally.
      given.once('error', onError);
      // Without a listener, Node would close the connection and leave the request waiting until its deadline.
      given.once('upgrade', (_switched, socket) => {
        socket.destroy();
        fail(new UpstreamFailure('reset', { failureCause: 'http_protocol_error' }));
      });
      let interim = 0;
      given.on('information', () => {
        interim += 1;
        if (interim > MAX_INTERIM_RESPONSES)
          fail(new UpstreamFailure('reset', { failureCause: 'http_protocol_error' }));
      });
      const connected = () => {
        phase = 'waiting';
        // During an upload, the client may be the slow side, so the upstream counts as silent only if it stops reading
        // the body.
        watch.start(options.bodyTimeoutMs, { excused: () => !given.writableNeedDrain, patienceMs });
      };
      watch.start(options.connectTimeoutMs);
      const { socket } = given;
      if (socket) readAfterWriteError(socket, () => (uploadBroke = true));
      socket?.once('encrypted' in socket ? 'secureConnect' : 'connect', connected);
      upload.on('data', watch.touch);
      given.once('finish', () => {
        upload.off('data', watch.touch);
        if (phase === 'waiting') watch.start(options.headersTimeoutMs);
      });
      return undefined;
    };

    const onResponse = (given: IncomingMessage) => {
      // The bytes that caused the failure may also contain the response, but the exchange has already ended.
      if (ended) return void given.destroy();
      const { statusCode: status = 0, statusMessage: reason = '' } = given;
      const { method, session } = request;
      const head = readHead({ method, status, reason, rawHeaders: given.rawHeaders, session });
      if (head instanceof UpstreamFailure) return fail(head);
      incoming = given;
      phase = 'body';
      // While reading is paused, the client causes the delay, not the upstream.
      watch.start(options.bodyTimeoutMs, { excused: () => given.isPaused(), patienceMs });
      const received = new StreamedBody({ pause: () => given.pause(), resume: () => given.resume(), abort: finish });
      body = received;
      given.on('data', (part: Buffer) => {
        watch.touch();
        received.push(part);
      });
      given.once('error', onError);
      given.once('end', () => {
        if (ended) return undefined;
        // The connection broke during the upload, so a response without framing may be incomplete.
        if (uploadBroke && !head.isFramed) return fail(new UpstreamFailure('truncated'));
        finish();
        return received.finish();
      });
      return resolve({ status, reason, headers: head.headers, body: received });
    };

    const end = proxy(request, { onRequest, onResponse, onError });
    return stop.listen((reason) => (body === undefined ? fail(reason) : body.destroy(reason)));
  });
}

/** A request with a body, in the form passed to the proxy library. */
interface ProxiedRequest {
  readonly method: string;
  /** The raw path and query, including the base path. */
  readonly path: string;
  readonly headers: HeaderPairs;
  /** The whole body, or the stream from the client. */
  readonly body: Buffer | Readable;
  /** The length in bytes. Undefined for a chunked body. */
  readonly length: number | undefined;
  /** The caller's session, whose cookies are added to the request. Undefined if no session is kept. */
  readonly session?: ExchangeSession | undefined;
}

/** The callbacks for the events of a proxied request. */
interface ProxyEvents {
  /**
   * Called when a socket is assigned to the request. The socket might still be connecting. `body` is the stream that is
   * piped into the request.
   */
  onRequest(outgoing: ClientRequest, body: Readable): void;
  onResponse(incoming: IncomingMessage): void;
  onError(error: unknown): void;
}

/** Sends a request on its own connection. Returns a function that terminates both the request and the response. */
export type Proxy = (request: ProxiedRequest, events: ProxyEvents) => () => void;

// The events are stored in a property of the request, because once a WeakMap has become old, its entries survive all
// minor garbage collections.
const EVENTS = Symbol('events');

/**
 * The request passed to the proxy library instead of the client's request. It has the gateway's own headers and a
 * harmless URL, so that the library never sees the client's data. `pathRewrite` sets the actual path.
 */
interface LibraryRequest extends Readable {
  readonly [EVENTS]: ProxyEvents & { readonly path: string };
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly httpVersion: string;
  readonly httpVersionMajor: number;
}

const eventsOf = (request: object) => (request as LibraryRequest)[EVENTS];

const plugin: Plugin = (server) => {
  server.on('proxyReq', (outgoing, request) =>
    eventsOf(request).onRequest(outgoing, request as unknown as LibraryRequest),
  );
  server.on('proxyRes', (incoming, request) => eventsOf(request).onResponse(incoming));
  // Only `econnreset` errors need a listener. Any other error rejects the promise that the proxy returns.
  server.on('econnreset', (error, request) => eventsOf(request).onError(error));
};

/** Creates a proxy for one origin. http-proxy-middleware is used only to send requests. */
export function createProxy(
  origin: string,
  { maxResponseHeaderBytes }: Pick<UpstreamOptions, 'maxResponseHeaderBytes'>,
): Proxy {
  const { host } = new URL(origin);
  const proxy = createProxyMiddleware({
    target: origin,
    agent: createAgent(origin, maxResponseHeaderBytes),
    // The default plugins log to the console and send error bodies that contain the host name.
    ejectPlugins: true,
    plugins: [plugin],
    selfHandleResponse: true,
    xfwd: false,
    changeOrigin: false,
    followRedirects: false,
    ws: false,
    // The proxy library filters paths by parsing them as URLs, so it receives a constant path. The real path is sent
    // unchanged.
    pathRewrite: (_path, request) => eventsOf(request).path,
  });
  return (request, events) => {
    const { method, path, body, session } = request;
    const headers =
      session === undefined ? request.headers : headerPairs(session.attach(request.headers.flat(), origin, path));
    const given: LibraryRequest = Object.assign(bodyFor(body), {
      [EVENTS]: { ...events, path },
      method,
      url: '/',
      headers: libraryHeaders(headers, request.length, host),
      httpVersion: '1.1',
      httpVersionMajor: 1,
    });
    // When this object closes, the proxy library terminates the request and the response. It never writes to this
    // object.
    const response = new Writable();
    const failed = (error?: unknown) => events.onError(error ?? new Error('the request was not proxied'));
    proxy(given as unknown as IncomingMessage, response as unknown as ServerResponse, failed).catch(failed);
    return () => response.destroy();
  };
}

/**
 * Creates an agent that opens a connection for each request and closes it afterwards: a request with a body is never
 * sent twice, so it must not use a connection that may already be closing. The proxy library offers no limits for
 * response headers, and Node reads them from the request when the agent receives it.
 */
function createAgent(origin: string, maxHeaderBytes: number): HttpAgent {
  const agent = origin.startsWith('https:') ? new HttpsAgent() : new HttpAgent();
  const { addRequest } = agent as unknown as InternalAgent;
  return Object.assign(agent, {
    addRequest(this: HttpAgent, request: ClientRequest, options: unknown) {
      // Without a count of 0, Node would silently drop all headers after the first 1,000.
      Object.assign(request, { maxHeaderSize: maxHeaderBytes, maxHeadersCount: 0 });
      addRequest.call(this, request, options);
    },
  });
}

/** The method with which Node passes a request to its agent. Node's documentation mentions it only in its history. */
interface InternalAgent {
  readonly addRequest: (this: HttpAgent, request: ClientRequest, options: unknown) => void;
}

// The proxy library drains and destroys bodies that it no longer needs. The client's request must not be destroyed, so
// the library receives a separate stream.
function bodyFor(body: Buffer | Readable): Readable {
  if (Buffer.isBuffer(body)) return Readable.from(body, { objectMode: false });
  const through = new PassThrough();
  pipeline(body, through, () => undefined);
  return through;
}

const FRAMING: ReadonlySet<string> = new Set(['host', 'content-length', 'transfer-encoding']);

/**
 * Returns the headers in the form that the proxy library expects. Repeated headers become lists, and Node writes each
 * value on its own line. Each name keeps the case of its first occurrence. `Host` contains the upstream's host. The
 * framing always depends on the body, never on the client's headers.
 */
function libraryHeaders(
  headers: HeaderPairs,
  length: number | undefined,
  host: string,
): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = { host };
  const names = new Map<string, string>();
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    if (FRAMING.has(key)) continue;
    const first = names.get(key);
    if (first !== undefined) {
      fields[first] = [fields[first] ?? [], value].flat();
      continue;
    }
    names.set(key, name);
    fields[name] = value;
  }
  // The proxy library recognizes a length only if the header name is in lower case. If it found no length on a DELETE
  // or OPTIONS request, it would set the length to 0, and the upstream would read the body as a second request.
  if (length === undefined) fields['transfer-encoding'] = 'chunked';
  else fields['content-length'] = String(length);
  return fields;
}

/** The unread body of a client's request. */
export interface Upload {
  readonly stream: Readable;
  /** The length in bytes. Undefined for a chunked body. */
  readonly length: number | undefined;
}

/**
 * Returns a request's body, framed as determined by the request parser (RFC 9112 §6), or undefined if the request has
 * no body. The framing must not depend on the forwarded headers.
 */
export function uploadOf({ headers, body }: Pick<Arrival, 'headers' | 'body'>): Upload | undefined {
  if (headers['transfer-encoding'] !== undefined) return { stream: body, length: undefined };
  const length = Number(headers['content-length'] ?? 0);
  return length > 0 ? { stream: body, length } : undefined;
}

// Longer bodies, and bodies of unknown length, are streamed.
const SHORT_BYTES = 65_536;

/**
 * Returns whether the body must be read completely before the request takes an upstream slot, so that a slow client
 * does not occupy a slot.
 */
export function isShort({ length }: Upload): boolean {
  return length !== undefined && length <= SHORT_BYTES;
}

/**
 * Reads a short body completely. Rejects with an `UpstreamFailure` of kind `aborted` if the client disconnects or
 * pauses for more than `silenceMs`.
 */
export async function readShort({ stream }: Upload, silenceMs: number): Promise<Buffer> {
  const read = await readBody(stream, { bytes: SHORT_BYTES, silenceMs });
  if (read.state === 'whole') return read.bytes;
  throw new UpstreamFailure('aborted', { cause: read.state === 'broken' ? read.error : undefined });
}
