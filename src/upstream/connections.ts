import { buildConnector, Client, Pool, type Dispatcher } from 'undici';
import { skipInterimResponses } from './interim-responses.ts';
import type { WireRequest } from './sending.ts';
import type { UpstreamOptions } from './upstream-options.ts';

/** Connections to the upstream: persistent ones for safe requests, and new ones that carry a single request. */
interface Connections {
  readonly kept: Dispatcher;
  /** Returns a dispatcher for exactly one request, on a new connection. */
  fresh(): Dispatcher;
  open(): number;
  /** Waits for requests in flight to finish, then closes the connections. */
  close(): Promise<void>;
  /** Closes all open connections immediately. */
  destroy(): Promise<void>;
}

/** Creates the connections; none is opened before the first request. */
export function createConnections(origin: string, options: UpstreamOptions): Connections {
  const fresh = new Set<Client>();
  let open = 0;

  const connectSocket = buildConnector({ timeout: options.connectTimeoutMs, allowH2: false });
  const connect: buildConnector.connector = (target, callback) =>
    connectSocket(target, (...result) => {
      const [, socket] = result;
      if (socket) {
        open += 1;
        socket.once('close', () => (open -= 1));
      }
      callback(...result);
    });

  const clientOptions: Client.Options = {
    connect,
    allowH2: false,
    pipelining: 1,
    headersTimeout: options.headersTimeoutMs,
    bodyTimeout: options.bodyTimeoutMs,
    keepAliveTimeout: options.idleTimeoutMs,
    // The server's `Keep-Alive: timeout` can only shorten the idle time.
    keepAliveMaxTimeout: options.idleTimeoutMs,
  };

  /** A client that marks its request with the state of the connection; it carries one request at a time. */
  class MarkingClient extends Client {
    #current: WireRequest | undefined;
    #awaitHead: (() => void) | undefined;

    constructor() {
      super(origin, {
        ...clientOptions,
        connect: (target, callback) =>
          connect(target, (...result) => {
            const [, socket] = result;
            if (socket) {
              // This runs before undici's own listener, which may end the response while it handles the error.
              socket.once('error', () => {
                if (this.#current) this.#current.broken = true;
              });
              this.#awaitHead = skipInterimResponses(socket);
            }
            callback(...result);
          }),
      });
    }

    override dispatch(request: WireRequest, handler: Dispatcher.DispatchHandler): boolean {
      this.#current = request;
      request.broken = false;
      request.reused = this.stats.connected;
      this.#awaitHead?.();
      return super.dispatch(request, handler);
    }
  }
  const kept = new Pool(origin, { ...clientOptions, factory: () => new MarkingClient() });

  return {
    kept,
    fresh() {
      const client = new MarkingClient();
      fresh.add(client);
      client.once('disconnect', () => fresh.delete(client));
      client.once('connectionError', () => fresh.delete(client));
      return client;
    },
    open: () => open,
    async close() {
      await Promise.all([kept, ...fresh].map(async (dispatcher) => dispatcher.destroyed || dispatcher.close()));
    },
    async destroy() {
      await Promise.all([kept, ...fresh].map((dispatcher) => dispatcher.destroy()));
    },
  };
}
