import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Connection, type ConnectionOptions } from './connection.ts';

/** How a listener is set up. */
export interface ListenerOptions extends ConnectionOptions {
  readonly host: string;
  readonly port: number;
  readonly keepAliveSeconds: number;
  readonly requestTimeoutSeconds: number;
  readonly headersTimeoutSeconds: number;
}

/** A server with its open connections, not listening yet. */
export interface ListenerServer {
  readonly server: Server;
  readonly connections: ReadonlySet<Connection>;
}

/** How long a listener waits when it closes, in milliseconds. */
export interface Grace {
  /** For requests in flight; what is left is then broken. */
  readonly finishMs: number;
  /** For a request that may be on its way on an idle connection. */
  readonly idleMs?: number;
}

/** A listener that takes requests. */
export interface Listener {
  readonly server: Server;
  /** `http://host:port` as it can be called. */
  readonly url: string;
  /**
   * Takes no new connection. Each open connection ends with the response to its latest request, or to the next one, and
   * idle ones are closed once nothing has come for a while.
   */
  close(grace: Grace): Promise<void>;
}

const CHECK_MS = 2000;

/** Makes the server of an app without listening yet; keep-alive outlives a balancer's idle connections. */
export function createListenerServer(app: RequestListener, options: ListenerOptions): ListenerServer {
  const connections = new Set<Connection>();
  const bySocket = new WeakMap<object, Connection>();
  const received: RequestListener = (request, response) => {
    bySocket.get(request.socket)?.begin(request, response);
  };
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
      // Node would refuse it with an empty 400 that nobody counts.
      requireHostHeader: false,
    },
    received,
  );
  // Node would respond to other expectations than 100-continue itself, with an empty 417.
  server.on('checkExpectation', received);
  server.on('connection', (socket: Socket) => {
    const connection = new Connection(socket, app, options);
    connections.add(connection);
    bySocket.set(socket, connection);
    socket.once('close', () => connections.delete(connection));
  });
  server.on('clientError', (cause, socket) => {
    const connection = bySocket.get(socket);
    if (connection === undefined) socket.destroy();
    else connection.failed(cause);
  });
  return { server, connections };
}

/** Starts to listen; rejects with the system's error, EADDRINUSE for instance. */
export async function listen(
  { server, connections }: ListenerServer,
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
  return { server, url: `http://${name}:${bound.port}`, close: (grace) => closeServer(server, connections, grace) };
}

const SWEEP_MS = 50;
/** Longer than a request takes to anybody's network. */
const IDLE_MS = 500;

async function closeServer(
  server: Server,
  connections: ReadonlySet<Connection>,
  { finishMs, idleMs = IDLE_MS }: Grace,
): Promise<void> {
  for (const connection of connections) connection.closeSoon();
  await acceptWaiting(server, connections, finishMs);
  // An HTTP server's own close destroys idle connections at once, and with them the requests that are on their way to us.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  const timer = setTimeout(() => server.closeAllConnections(), finishMs);
  const idleSince = new Map<Connection, number>();
  const sweep = setInterval(() => {
    const now = performance.now();
    for (const connection of connections) {
      const since = idleSince.get(connection) ?? now;
      if (!connection.idle) idleSince.delete(connection);
      else if (now - since >= idleMs) connection.end();
      else idleSince.set(connection, since);
    }
  }, SWEEP_MS);
  await closed;
  clearTimeout(timer);
  clearInterval(sweep);
  // Ends the timer that looks for slow requests.
  server.close();
}

const ACCEPT_MS = 2000;

/** Accepts the clients that the system has connected already: closing the listener would reset them. */
async function acceptWaiting(server: Server, connections: ReadonlySet<Connection>, finishMs: number): Promise<void> {
  // Not for ever: a balancer may not have noticed yet, and send new ones.
  const end = performance.now() + Math.min(ACCEPT_MS, finishMs);
  let accepted = true;
  const note = () => {
    accepted = true;
    for (const connection of connections) connection.closeSoon();
  };
  server.on('connection', note);
  while (accepted && performance.now() < end) {
    accepted = false;
    // The event loop looks for connections between two turns.
    await turn();
    await turn();
  }
  server.off('connection', note);
}
