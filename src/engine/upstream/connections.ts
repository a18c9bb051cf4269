import type { Socket } from 'node:net';
import { buildConnector, Client, type Dispatcher, Pool } from 'undici';
import { checkNode } from '../node-internals/check-node.ts';
import { readAfterWriteError } from '../node-internals/failed-writes.ts';
import { interceptReceived, type Push } from '../node-internals/received-bytes.ts';
import type { RequestSender, WireRequest } from './sending.ts';
import type { UpstreamOptions } from './upstream-options.ts';

/**
 * Connections to the upstream: persistent connections for safe requests, and new connections that are used for one
 * request each.
 */
export interface Connections {
  readonly persistent: RequestSender;
  /** Returns a dispatcher that sends exactly one request, on a new connection. */
  fresh(): RequestSender;
  open(): number;
  /** Waits for requests in flight to finish, then closes the connections. */
  close(): Promise<void>;
  /** Closes all open connections immediately. */
  destroy(): Promise<void>;
}

// An error with the code `UND_ERR_ABORTED` does not count against the server.
const givenUp = () => Object.assign(new Error('the request was given up'), { code: 'UND_ERR_ABORTED' });

/** Creates the connections. The first connection is opened for the first request. */
export function createConnections(origin: string, options: UpstreamOptions): Connections {
  checkNode();
  const fresh = new Set<Client>();
  let open = 0;

  const connectSocket = buildConnector({ timeout: options.connectTimeoutMs, allowH2: false });
  const connecting = new Set<Socket>();
  /**
   * Opens a connection and returns its socket immediately. The callback receives the socket when the connection is
   * established.
   */
  const connect = (target: buildConnector.Options, callback: buildConnector.Callback): Socket => {
    const opening = connectSocket(target, (...result) => {
      connecting.delete(opening);
      const [, socket] = result;
      if (socket) {
        open += 1;
        socket.once('close', () => (open -= 1));
      }
      callback(...result);
    }) as unknown as Socket;
    connecting.add(opening);
    return opening;
  };

  const clientOptions: Client.Options = {
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: options.maxResponseHeaderBytes,
    headersTimeout: options.headersTimeoutMs,
    bodyTimeout: options.bodyTimeoutMs,
    keepAliveTimeout: options.idleTimeoutMs,
    // The server's `Keep-Alive: timeout` can shorten the idle time but never extend it.
    keepAliveMaxTimeout: options.idleTimeoutMs,
  };

  /** An undici client that handles one request at a time and records the connection's state in the request. */
  class MarkingClient extends Client {
    #current: WireRequest | undefined;
    #awaitHead: (() => void) | undefined;
    /** The socket that is still connecting. */
    #opening: Socket | undefined;
    readonly #stopConnecting = () => this.#opening?.destroy(givenUp());

    constructor({ uploads }: { readonly uploads: boolean }) {
      super(origin, {
        ...clientOptions,
        connect: (target, callback) => {
          // The request may have been meant for an idle connection that undici then closed. The state of that
          // connection must not count for the new one.
          if (this.#current) this.#markNew(this.#current);
          this.#opening = connect(target, (...result) => {
            this.#opening = undefined;
            const [, socket] = result;
            if (socket) {
              // This listener must run before undici's own listener, which may end the response while handling the
              // error.
              const broken = () => {
                if (this.#current) this.#current.broken = true;
              };
              socket.once('error', broken);
              if (uploads) readAfterWriteError(socket, broken);
              this.#awaitHead = skipInterimResponses(socket, () => {
                if (this.#current) this.#current.interim = true;
              });
            }
            callback(...result);
          });
        },
      });
    }

    override dispatch(request: WireRequest, handler: Dispatcher.DispatchHandler): boolean {
      this.#current = request;
      this.#markNew(request);
      request.interim = false;
      request.reused = this.stats.connected;
      this.#awaitHead?.();
      const { session, headers, path } = request;
      if (session === undefined) return super.dispatch(request, handler);
      const attached = session.attach(headers as string[], origin, path) as string[];
      // A retry sends the original headers, so cookies are added to a copy.
      return super.dispatch(attached === headers ? request : { ...request, headers: attached }, handler);
    }

    #markNew(request: WireRequest): void {
      request.broken = false;
      request.reused = false;
      request.stopConnecting = this.#stopConnecting;
    }
  }
  const persistent = new Pool(origin, { ...clientOptions, factory: () => new MarkingClient({ uploads: false }) });

  return {
    persistent,
    fresh() {
      const client = new MarkingClient({ uploads: true });
      fresh.add(client);
      client.once('disconnect', () => fresh.delete(client));
      client.once('connectionError', () => fresh.delete(client));
      return client;
    },
    open: () => open,
    async close() {
      await Promise.all([persistent, ...fresh].map(async (dispatcher) => dispatcher.destroyed || dispatcher.close()));
    },
    async destroy() {
      // undici does not close a socket that is still connecting, and an open socket would keep the process alive.
      for (const socket of connecting) socket.destroy(new Error('the upstream was closed'));
      await Promise.all([persistent, ...fresh].map((dispatcher) => dispatcher.destroy()));
    },
  };
}

/** The maximum number of interim responses to one request. */
export const MAX_INTERIM_RESPONSES = 64;
const MAX_INTERIM_BYTES = 16_384;

const HEAD_END = '\r\n\r\n';
/** The beginning of an interim response. The question mark stands for the minor version, 0 or 1. */
const INTERIM_START = Buffer.from('HTTP/1.? 1');
const VERSION_AT = INTERIM_START.indexOf('?');
const STATUS_AT = INTERIM_START.length - 1;
const STATUS_END = STATUS_AT + 3;

/**
 * Removes interim responses (1xx, RFC 9110 §15.2) from the data that a socket receives, so that its reader receives
 * only final responses. Without this step, undici would close a connection on which an unrequested `100 Continue`
 * arrives. The socket is destroyed if the server switches protocols (101), or sends more than 64 interim responses or
 * more than 16 KiB of them.
 *
 * Returns a function to call at the start of each request except the first one on the socket. Bytes are inspected only
 * until the final response to that request arrives. `onInterim` is called when the first interim response to a request
 * begins.
 */
export function skipInterimResponses(socket: Socket, onInterim?: () => void): () => void {
  let awaitsHead = true;
  let incomplete: Buffer | undefined;
  let count = 0;
  let bytes = 0;

  const forward = (rest: Buffer): boolean => {
    awaitsHead = false;
    return push(rest);
  };
  const refuse = (reason: string): boolean => {
    awaitsHead = false;
    socket.destroy(new Error(reason));
    return false;
  };

  /**
   * Skips the interim responses at the start of the bytes and forwards the rest. An incomplete interim response is
   * buffered until more bytes arrive.
   */
  const skip = (received: Buffer): boolean => {
    let rest = received;
    while (rest.length > 0) {
      if (!isInterim(rest)) return forward(rest);
      if (count === 0) onInterim?.();
      if (rest.toString('latin1', STATUS_AT, STATUS_END) === '101') return refuse('unrequested switch of protocols');
      const end = rest.indexOf(HEAD_END);
      const length = end < 0 ? rest.length : end + HEAD_END.length;
      if (bytes + length > MAX_INTERIM_BYTES) return refuse('interim responses are too large');
      if (end < 0) {
        incomplete = rest;
        return true;
      }
      bytes += length;
      count += 1;
      if (count > MAX_INTERIM_RESPONSES) return refuse('too many interim responses');
      rest = rest.subarray(length);
    }
    return true;
  };

  const receive: Push = (part, encoding) => {
    if (!awaitsHead) return push(part, encoding);
    const before = incomplete;
    incomplete = undefined;
    if (part === null) {
      if (before !== undefined) forward(before);
      return push(null);
    }
    if (before !== undefined) return skip(Buffer.concat([before, part]));
    // Nearly all responses are final, and a single byte is enough to recognize a final response.
    const status = part[STATUS_AT];
    return status === undefined || status === INTERIM_START[STATUS_AT] ? skip(part) : forward(part);
  };
  const push = interceptReceived(socket, receive);
  return () => {
    awaitsHead = true;
    count = 0;
    bytes = 0;
  };
}

/** Returns true if the bytes are, or may become, the beginning of an interim response. */
function isInterim(bytes: Buffer): boolean {
  const known = Math.min(bytes.length, INTERIM_START.length);
  for (let at = 0; at < known; at += 1) {
    const byte = bytes[at];
    if (at === VERSION_AT ? byte !== 0x30 && byte !== 0x31 : byte !== INTERIM_START[at]) return false;
  }
  return true;
}
