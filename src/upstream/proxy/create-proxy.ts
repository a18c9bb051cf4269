import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough, pipeline, Readable, Writable } from 'node:stream';
import { createProxyMiddleware, type Plugin } from 'http-proxy-middleware';
import type { HeaderPairs } from '../../model/header-pairs.ts';

/** A request with a body, as the proxy library is given it. */
export interface ProxiedRequest {
  readonly method: string;
  /** Raw path and query, base path included. */
  readonly path: string;
  readonly headers: HeaderPairs;
  /** Whole, or as the client sends it. */
  readonly body: Buffer | Readable;
  /** In bytes; undefined for a body that is sent in chunks. */
  readonly length: number | undefined;
}

/** What becomes of a proxied request. */
interface ProxyEvents {
  /** The request has a socket, which may not be connected yet. `body` is what is piped into it. */
  onRequest(outgoing: ClientRequest, body: Readable): void;
  onResponse(incoming: IncomingMessage): void;
  onError(error: unknown): void;
}

/** Sends a request on a connection of its own; the function that it returns ends request and response. */
export type Proxy = (request: ProxiedRequest, events: ProxyEvents) => () => void;

// A property and not a WeakMap: in an old one, what is as young as a request outlives every collection of the young.
const EVENTS = Symbol('events');

/**
 * What the library sees instead of the client's request: our own headers and a harmless URL, so that it reads nothing of the
 * client's. The path is set by `pathRewrite`.
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
  // Without a listener for them, all other errors reject what the proxy returns.
  server.on('econnreset', (error, request) => eventsOf(request).onError(error));
};

/** Makes a proxy for one origin from http-proxy-middleware, of which only the sending of requests is used. */
export function createProxy(origin: string): Proxy {
  const { host } = new URL(origin);
  const proxy = createProxyMiddleware({
    target: origin,
    // A request with a body is not sent twice, so it gets no connection that may be dead. The types know only agents.
    agent: false as never,
    // The default plugins write error bodies that name the host, and log to the console.
    ejectPlugins: true,
    plugins: [plugin],
    selfHandleResponse: true,
    xfwd: false,
    changeOrigin: false,
    followRedirects: false,
    ws: false,
    // The library reads paths as URLs to filter them; it is given a constant one, and ours goes out as it is.
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
    // The library ends request and response when this closes, and writes nothing to it.
    const response = new Writable();
    const failed = (error?: unknown) => events.onError(error ?? new Error('the request was not proxied'));
    proxy(given as unknown as IncomingMessage, response as unknown as ServerResponse, failed).catch(failed);
    return () => response.destroy();
  };
}

// The library reads what is left of a body that it no longer needs, and breaks it; the client's request is not its own.
function bodyFor(body: Buffer | Readable): Readable {
  if (Buffer.isBuffer(body)) return Readable.from(body, { objectMode: false });
  const through = new PassThrough();
  pipeline(body, through, () => undefined);
  return through;
}

const FRAMING: ReadonlySet<string> = new Set(['host', 'content-length', 'transfer-encoding']);

/**
 * Returns the headers as the library takes them: repeated ones become lists, which Node writes one line each, and a name keeps
 * the case in which it came first. `Host` is the upstream's. The framing is the body's own, never taken from the headers.
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
  // In lower case, the only one in which the library looks for a length: one that it does not see, on a DELETE or OPTIONS, it
  // overwrites with 0, and the upstream would read the body as a second request.
  if (length === undefined) fields['transfer-encoding'] = 'chunked';
  else fields['content-length'] = String(length);
  return fields;
}
