import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { hostInUrl } from '../../lib/network-address.ts';
import { attachConnections, type Connection, type ConnectionOptions } from './connection.ts';
import type { MessageClasses } from './public-app.ts';
import { createTlsServer, type SecureListening } from './tls-listener.ts';

/** Options for a listener. */
export interface ListenerOptions extends ConnectionOptions {
  readonly maxHeaderBytes: number;
  readonly host: string;
  readonly port: number;
  /** Whether other processes may listen on the same port, so that the operating system divides connections among them. */
  readonly reusePort?: boolean;
  readonly keepAliveSeconds: number;
  readonly requestTimeoutSeconds: number;
  readonly headersTimeoutSeconds: number;
  /** The classes of the server's requests and responses. Defaults to those of Node. */
  readonly messages?: MessageClasses;
  /** The TLS settings. If set, the listener accepts only TLS connections. */
  readonly secure?: SecureListening | undefined;
}

/** The parts of a client's connection that are needed to close it. */
type Closable = Pick<Connection, 'idle' | 'unused' | 'end'>;

/** A server and its open connections, before it starts listening. */
export interface ListenerServer {
  readonly server: Server | SecureServer;
  readonly connections: ReadonlySet<Connection>;
  /** The connections whose TLS handshakes are not yet complete, keyed by peer. Undefined if TLS is not used. */
  readonly handshakes?: ReadonlyMap<string, Closable>;
}

/** The time limits for closing a listener, in milliseconds. */
interface Grace {
  /** How long requests in progress may take. After this time, the remaining connections are destroyed. */
  readonly finishMs: number;
  /** How long idle connections are kept open in case a request is on its way. */
  readonly idleMs?: number;
}

/** A listener that accepts requests. */
export interface Listener {
  readonly server: Server;
  /** The listener's address, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /**
   * Stops accepting connections. Each open connection is closed after the response to its latest request or, if that
   * response has already begun, after the response to the next request. Connections that are idle for `idleMs` are also
   * closed.
   */
  close(grace: Grace): Promise<void>;
}

const CHECK_MS = 2000;

/** Creates the server for an application. It does not listen yet. */
export function createListenerServer(app: RequestListener, options: ListenerOptions): ListenerServer {
  const settings: ServerOptions = {
    keepAlive: true,
    keepAliveTimeout: options.keepAliveSeconds * 1000,
    headersTimeout: options.headersTimeoutSeconds * 1000,
    requestTimeout: options.requestTimeoutSeconds * 1000,
    // By default, Node checks for slow requests only every 30 seconds, even if the configured timeouts are shorter.
    connectionsCheckingInterval: CHECK_MS,
    maxHeaderSize: options.maxHeaderBytes,
    // The strict parser refuses ambiguous requests (RFC 9112 §6.3).
    insecureHTTPParser: false,
    // Requests without a Host header are refused by the gateway itself. Node would send an empty 400 response, which
    // the gateway could not count.
    requireHostHeader: false,
    // With this option, the body stream of a request without a body has already ended, so it does not have to be
    // consumed.
    optimizeEmptyRequests: true,
    ...options.messages,
  };
  if (options.secure === undefined) {
    const server = createServer(settings);
    return { server, connections: attachConnections(server, 'connection', app, options) };
  }
  const { server, handshakes } = createTlsServer(settings, options.secure);
  return { server, handshakes, connections: attachConnections(server, 'secureConnection', app, options) };
}

/** Starts listening. Rejects with the system error, such as EADDRINUSE. */
export async function listen(
  created: ListenerServer,
  { host, port, reusePort = false }: Pick<ListenerOptions, 'host' | 'port' | 'reusePort'>,
): Promise<Listener> {
  const { server } = created;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, reusePort }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const bound = server.address() as AddressInfo;
  const scheme = created.handshakes === undefined ? 'http' : 'https';
  return {
    server,
    url: `${scheme}://${hostInUrl(bound.address)}:${bound.port}`,
    close: (grace) => closeServer(created, grace),
  };
}

const SWEEP_MS = 50;
/** The default for `idleMs`, which is longer than a request takes to arrive. */
const IDLE_MS = 500;

async function closeServer(
  { server, connections, handshakes = new Map() }: ListenerServer,
  { finishMs, idleMs = IDLE_MS }: Grace,
): Promise<void> {
  const closeSoon = () => {
    for (const connection of connections) connection.closeSoon();
  };
  closeSoon();
  // `connections` contains a TLS connection only once its handshake is complete.
  server.on('secureConnection', closeSoon);
  await acceptPending(server, connections, finishMs);
  // The HTTP server's own `close` method would destroy idle connections immediately, even if a request were on its way.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  const timer = setTimeout(() => {
    for (const connection of connections) connection.cut();
    server.closeAllConnections();
  }, finishMs);
  const idleSince = new Map<Closable, number>();
  const sweep = setInterval(() => {
    const now = performance.now();
    let isWaiting = false;
    for (const connection of [...connections, ...handshakes.values()]) {
      const since = idleSince.get(connection) ?? now;
      if (!connection.idle) idleSince.delete(connection);
      else if (now - since < idleMs) {
        idleSince.set(connection, since);
        isWaiting = true;
      } else if (connection.unused) connection.end();
    }
    // Only Node knows whether part of another request has arrived on a connection that has been used.
    if (!isWaiting) server.closeIdleConnections();
  }, SWEEP_MS);
  await closed;
  clearTimeout(timer);
  clearInterval(sweep);
  // This call also stops the timer that checks for slow requests.
  server.close();
}

const ACCEPT_MS = 2000;

/**
 * Accepts the connections that the operating system has established but the process has not yet accepted. If the
 * listener were closed without this step, these connections would be reset.
 */
async function acceptPending(server: Server, connections: ReadonlySet<Connection>, finishMs: number): Promise<void> {
  // The time is limited, because a load balancer may keep opening connections.
  const end = performance.now() + Math.min(ACCEPT_MS, finishMs);
  let accepted = true;
  const onConnection = () => {
    accepted = true;
    for (const connection of connections) connection.closeSoon();
  };
  server.on('connection', onConnection);
  while (accepted && performance.now() < end) {
    accepted = false;
    // The event loop accepts pending connections between turns.
    await turn();
    await turn();
  }
  server.off('connection', onConnection);
}
