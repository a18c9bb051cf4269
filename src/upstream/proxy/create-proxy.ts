import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough, pipeline, Readable, Writable } from 'node:stream';
import { createProxyMiddleware, type Plugin } from 'http-proxy-middleware';
import type { HeaderPairs } from '../../model/header-pairs.ts';

/** A request with a body, in the form that the proxy library receives. */
export interface ProxiedRequest {
  readonly method: string;
  /** The raw path and query, including the base path. */
  readonly path: string;
  readonly headers: HeaderPairs;
  /** The whole body, or the stream from the client. */
  readonly body: Buffer | Readable;
  /** The length in bytes. Undefined for a chunked body. */
  readonly length: number | undefined;
}

/** The callbacks for the events of a proxied request. */
interface ProxyEvents {
  /**
   * Called when the request has a socket, which may not be connected yet. `body` is the stream that is piped into the
   * request.
   */
  onRequest(outgoing: ClientRequest, body: Readable): void;
  onResponse(incoming: IncomingMessage): void;
  onError(error: unknown): void;
}

/** Sends a request on its own connection. Returns a function that ends both the request and the response. */
export type Proxy = (request: ProxiedRequest, events: ProxyEvents) => () => void;

// The events are stored in a property rather than a WeakMap, whose entries survive all minor garbage collections once
// the map is old.
const EVENTS = Symbol('events');

/**
 * The request that the library receives in place of the client's. It has the gateway's own headers and a harmless URL
 * so that the library does not read any of the client's data. `pathRewrite` sets the path.
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
  // Only this error needs a listener. All others reject the promise that the proxy returns.
  server.on('econnreset', (error, request) => eventsOf(request).onError(error));
};

/** Creates a proxy for one origin. It uses http-proxy-middleware only to send requests. */
export function createProxy(origin: string): Proxy {
  const { host } = new URL(origin);
  const proxy = createProxyMiddleware({
    target: origin,
    // A request with a body is never sent twice, so it must not use a connection that may already be closing. The
    // library's types do not allow `false`.
    agent: false as never,
    // The default plugins log to the console and send error bodies that contain the host name.
    ejectPlugins: true,
    plugins: [plugin],
    selfHandleResponse: true,
    xfwd: false,
    changeOrigin: false,
    followRedirects: false,
    ws: false,
    // The library parses paths as URLs to filter them, so it receives a constant path. The real path is sent unchanged.
    pathRewrite: (_path, request) => eventsOf(request).path,
  });
  return (request, events) => {
    const { method, path, body } = request;
    const given: LibraryRequest = Object.assign(bodyFor(body), {
      [EVENTS]: { ...events, path },
      method,
      url: '/',
      headers: libraryHeaders(request, host),
      httpVersion: '1.1',
      httpVersionMajor: 1,
    });
    // The library ends the request and the response when this object closes, but never writes anything to it.
    const response = new Writable();
    const failed = (error?: unknown) => events.onError(error ?? new Error('the request was not proxied'));
    proxy(given as unknown as IncomingMessage, response as unknown as ServerResponse, failed).catch(failed);
    return () => response.destroy();
  };
}

// The library drains and destroys bodies that it no longer needs. It must not do that to the client's request, so it
// receives a stream of its own.
function bodyFor(body: Buffer | Readable): Readable {
  if (Buffer.isBuffer(body)) return Readable.from(body, { objectMode: false });
  const through = new PassThrough();
  pipeline(body, through, () => undefined);
  return through;
}

const FRAMING: ReadonlySet<string> = new Set(['host', 'content-length', 'transfer-encoding']);

/**
 * Returns the headers in the form that the library expects: repeated headers become lists, and Node writes each value
 * on its own line. Each name keeps the case of its first occurrence. `Host` is the upstream's. The framing always
 * depends on the body, never on the client's headers.
 */
function libraryHeaders({ headers, length }: ProxiedRequest, host: string): Record<string, string | string[]> {
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
  // The name must be in lower case, because the library recognizes a length only in that form. If it finds none on a
  // DELETE or OPTIONS request, it sets the length to 0, and the upstream would read the body as a second request.
  if (length === undefined) fields['transfer-encoding'] = 'chunked';
  else fields['content-length'] = String(length);
  return fields;
}
