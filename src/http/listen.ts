import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { hostInUrl } from '../lib/network-address.ts';
import { attachConnections, type Connection, type ConnectionOptions } from './connection.ts';
import { createTlsServer, type SecureListening } from './tls-listener.ts';

/** Options for a listener. */
export interface ListenerOptions extends ConnectionOptions {
  readonly host: string;
  readonly port: number;
  readonly keepAliveSeconds: number;
  readonly requestTimeoutSeconds: number;
  readonly headersTimeoutSeconds: number;
  /** If set, the listener accepts only TLS connections. */
  readonly secure?: SecureListening | undefined;
}

/** The part of a client's connection that is needed to close it. */
type Closable = Pick<Connection, 'idle' | 'end'>;

/** A server and its open connections, before it starts listening. */
export interface ListenerServer {
  readonly server: Server | SecureServer;
  readonly connections: ReadonlySet<Connection>;
  /** The connections whose TLS handshake is not complete yet. Undefined if TLS is not used. */
  readonly handshakes?: ReadonlySet<Closable>;
}

/** The time limits for closing a listener, in milliseconds. */
interface Grace {
  /** How long requests in flight may take before the remaining connections are destroyed. */
  readonly finishMs: number;
  /** How long idle connections stay open, in case a request is already on its way. */
  readonly idleMs?: number;
}

/** A listener that accepts requests. */
export interface Listener {
  readonly server: Server;
  /** The address of the listener, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /**
   * Stops accepting connections. Each open connection is closed after the response to its latest or next request. Idle
   * connections are closed after `idleMs`.
   */
  close(grace: Grace): Promise<void>;
}

const CHECK_MS = 2000;

/** Creates the server for an application without starting to listen. */
export function createListenerServer(app: RequestListener, options: ListenerOptions): ListenerServer {
  const settings: ServerOptions = {
    keepAlive: true,
    keepAliveTimeout: options.keepAliveSeconds * 1000,
    headersTimeout: options.headersTimeoutSeconds * 1000,
    requestTimeout: options.requestTimeoutSeconds * 1000,
    // By default, Node checks for slow requests only every 30 s, even if the configured time limits are shorter.
    connectionsCheckingInterval: CHECK_MS,
    maxHeaderSize: options.maxHeaderBytes,
    // The strict parser refuses ambiguous requests (RFC 9112, 6.3).
    insecureHTTPParser: false,
    // The gateway itself refuses requests without a Host header. Node would send an empty 400 response that the gateway
    // could not count.
    requireHostHeader: false,
    // With this option, the stream of a request without a body has already ended, so nothing needs to consume it.
    optimizeEmptyRequests: true,
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
  { host, port }: Pick<ListenerOptions, 'host' | 'port'>,
): Promise<Listener> {
  const { server } = created;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
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
  { server, connections, handshakes = new Set() }: ListenerServer,
  { finishMs, idleMs = IDLE_MS }: Grace,
): Promise<void> {
  const closeSoon = () => {
    for (const connection of connections) connection.closeSoon();
  };
  closeSoon();
  // A connection becomes known only once its handshake is complete.
  server.on('secureConnection', closeSoon);
  await acceptPending(server, connections, finishMs);
  // The HTTP server's own `close` method would destroy idle connections immediately, even if a request is on its way.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  const timer = setTimeout(() => server.closeAllConnections(), finishMs);
  const idleSince = new Map<Closable, number>();
  const sweep = setInterval(() => {
    const now = performance.now();
    for (const connection of [...connections, ...handshakes]) {
      const since = idleSince.get(connection) ?? now;
      if (!connection.idle) idleSince.delete(connection);
      else if (now - since >= idleMs) connection.end();
      else idleSince.set(connection, since);
    }
  }, SWEEP_MS);
  await closed;
  clearTimeout(timer);
  clearInterval(sweep);
  // Stops the timer that checks for slow requests.
  server.close();
}

const ACCEPT_MS = 2000;

/**
 * Accepts connections that the operating system has already established. Otherwise, closing the listener would reset
 * them.
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
    // The event loop accepts pending connections between two turns.
    await turn();
    await turn();
  }
  server.off('connection', onConnection);
}
