import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How a listener is set up. */
export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly keepAliveSeconds: number;
  readonly requestTimeoutSeconds: number;
  readonly headersTimeoutSeconds: number;
  readonly maxHeaderBytes: number;
}

/** A listener that takes requests. */
export interface Listener {
  readonly server: Server;
  /** `http://host:port` as it can be called. */
  readonly url: string;
  /** Takes no new connection, lets requests in flight end within the grace, then breaks what is left. */
  close(graceMs: number): Promise<void>;
}

const CHECK_MS = 2000;

/** Makes the server of an app without listening yet; keep-alive outlives a balancer's idle connections. */
export function createListenerServer(app: RequestListener, options: ListenerOptions): Server {
  const server = createServer(
    {
      keepAlive: true,
      keepAliveTimeout: options.keepAliveSeconds * 1000,
      headersTimeout: options.headersTimeoutSeconds * 1000,
      requestTimeout: options.requestTimeoutSeconds * 1000,
      // Node looks for requests that take too long every 30 s otherwise, however short their limits are.
      connectionsCheckingInterval: CHECK_MS,
      maxHeaderSize: options.maxHeaderBytes,
      // RFC 9112, 6.3: a request that can be read in two ways is refused.
      insecureHTTPParser: false,
      requireHostHeader: true,
    },
    app,
  );
  // Node would answer other expectations than 100-continue itself, with an empty 417.
  server.on('checkExpectation', (req, res) => app(req, res));
  return server;
}

/** Starts to listen; rejects with the system's error, EADDRINUSE for instance. */
export async function listen(
  server: Server,
  { host, port }: Pick<ListenerOptions, 'host' | 'port'>,
): Promise<Listener> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const bound = server.address() as AddressInfo;
  const name = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  return { server, url: `http://${name}:${bound.port}`, close: (graceMs) => closeServer(server, graceMs) };
}

const SWEEP_MS = 50;

async function closeServer(server: Server, graceMs: number): Promise<void> {
  // Closes idle connections too.
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  // An answer that had begun before may have promised to keep its connection.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  await closed;
  clearTimeout(timer);
  clearInterval(sweep);
}
