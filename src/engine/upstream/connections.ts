import type { Socket } from 'node:net';
import { buildConnector, Client, type Dispatcher, errors, Pool } from 'undici';
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

/**
 * Creates the connections. The first connection is opened for the first request. `onReceived` is called with the number
 * of bytes whenever some arrive.
 */
export function createConnections(
  origin: string,
  options: UpstreamOptions,
  onReceived?: (bytes: number) => void,
): Connections {
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
    // A connection limits the head and the trailers itself. undici would go on parsing what it has received, with an
    // error for each further header, which takes a tenth of a second.
    maxHeaderSize: Math.max(options.maxResponseHeaderBytes, MAX_OVERHEAD_BYTES) + 1,
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
              this.#awaitHead = guardReceived(socket, {
                maxHeadBytes: options.maxResponseHeaderBytes,
                bodyBytes: () => this.#current?.bodyBytes ?? 0,
                onInterim: () => {
                  if (this.#current) this.#current.interim = true;
                },
                onReceived,
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
      request.bodyBytes = 0;
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

/** A chunk for each byte of a body is six times as large as the body. Nothing else can make it larger without end. */
const MAX_EXPANSION = 6;
/** What may arrive in between: trailers, chunk extensions, and what undici has not read yet. */
const MAX_OVERHEAD_BYTES = 196_608;

/** What a socket may receive in response to a request. */
interface ReceivedLimits {
  readonly maxHeadBytes: number;
  /** Returns how many bytes of the response's body have been read so far. */
  readonly bodyBytes: () => number;
  /** Called when the first interim response to a request begins. */
  readonly onInterim?: () => void;
  /** Called with the number of bytes whenever some arrive. */
  readonly onReceived?: ((bytes: number) => void) | undefined;
}

/**
 * Removes interim responses (1xx, RFC 9110 §15.2) from the data that a socket receives, so that its reader receives
 * only final responses. Without this step, undici would close a connection on which an unrequested `100 Continue`
 * arrives. The socket is destroyed if the server switches protocols (101), or sends more than 64 interim responses, more
 * than 16 KiB of them, a larger head than allowed, or far more bytes than belong to the body.
 *
 * Returns a function to call at the start of each request except the first one on the socket. Bytes are inspected only
 * until the final response to that request arrives, and its body is only counted.
 */
export function guardReceived(
  socket: Socket,
  { maxHeadBytes, bodyBytes, onInterim, onReceived }: ReceivedLimits,
): () => void {
  /** What the next bytes belong to. */
  let state: 'interim' | 'head' | 'body' = 'interim';
  let incomplete: Buffer | undefined;
  let count = 0;
  let bytes = 0;
  /** The number of bytes of the final response's head, and the last ones while it is incomplete. */
  let headBytes = 0;
  let headTail: Buffer | undefined;
  /** The number of bytes since the head that do not seem to belong to the part of the body that was read. */
  let overhead = 0;
  let read = 0;

  const refuse = (error: Error): boolean => {
    state = 'body';
    socket.destroy(error);
    return false;
  };
  const forwardHead = (part: Buffer): boolean => {
    const searched = headTail === undefined ? part : Buffer.concat([headTail, part]);
    const end = searched.indexOf(HEAD_END);
    headBytes += end < 0 ? part.length : end + HEAD_END.length - (headTail?.length ?? 0);
    if (headBytes > maxHeadBytes) return refuse(new errors.HeadersOverflowError());
    if (end < 0) headTail = searched.subarray(1 - HEAD_END.length);
    else state = 'body';
    return push(part);
  };

  /**
   * Skips the interim responses at the start of the bytes and forwards the rest. An incomplete interim response is
   * buffered until more bytes arrive.
   */
  const skip = (part: Buffer): boolean => {
    let rest = part;
    while (rest.length > 0) {
      if (!isInterim(rest)) {
        state = 'head';
        return forwardHead(rest);
      }
      if (count === 0) onInterim?.();
      if (rest.toString('latin1', STATUS_AT, STATUS_END) === '101')
        return refuse(new Error('unrequested switch of protocols'));
      const end = rest.indexOf(HEAD_END);
      const length = end < 0 ? rest.length : end + HEAD_END.length;
      if (bytes + length > MAX_INTERIM_BYTES) return refuse(new Error('interim responses are too large'));
      if (end < 0) {
        incomplete = rest;
        return true;
      }
      bytes += length;
      count += 1;
      if (count > MAX_INTERIM_RESPONSES) return refuse(new Error('too many interim responses'));
      rest = rest.subarray(length);
    }
    return true;
  };

  const receive: Push = (part, encoding) => {
    if (part === null) {
      if (incomplete !== undefined) push(incomplete);
      incomplete = undefined;
      return push(null);
    }
    onReceived?.(part.length);
    if (state === 'body') {
      const known = read;
      read = bodyBytes();
      overhead = Math.max(0, overhead - MAX_EXPANSION * (read - known)) + part.length;
      if (overhead > MAX_OVERHEAD_BYTES)
        return refuse(new Error('the response has too many bytes that are not content'));
      return push(part, encoding);
    }
    if (state === 'head') return forwardHead(part);
    if (incomplete === undefined) return skip(part);
    const whole = Buffer.concat([incomplete, part]);
    incomplete = undefined;
    return skip(whole);
  };
  const push = interceptReceived(socket, receive);
  return () => {
    state = 'interim';
    count = 0;
    bytes = 0;
    headBytes = 0;
    headTail = undefined;
    overhead = 0;
    read = 0;
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
