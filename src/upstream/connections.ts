import { buildConnector, Client, Pool, type Dispatcher } from 'undici';
import { skipInterimResponses } from './interim-responses.ts';
import type { WireRequest } from './sending.ts';
import type { UpstreamOptions } from './upstream-options.ts';

/** Connections to the upstream: kept ones for safe requests, and fresh ones that carry a single request. */
interface Connections {
  readonly kept: Dispatcher;
  /** A dispatcher for exactly one request, on a connection that was never used before. */
  fresh(): Dispatcher;
  open(): number;
  /** Lets requests in flight finish. */
  close(): Promise<void>;
  /** Breaks whatever is still open. */
  destroy(): Promise<void>;
}

/** Makes the connections; nothing is connected before the first request. */
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
    // A server's `Keep-Alive: timeout` may only shorten the idle time.
    keepAliveMaxTimeout: options.idleTimeoutMs,
  };

  /** A client that marks the request it carries with what became of its connection; it carries one at a time. */
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
              // Before undici listens: it may end the response while it handles this error.
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
