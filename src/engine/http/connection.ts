import { type IncomingMessage, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type GatewayError, toErrorBody } from '../errors/gateway-error.ts';
import { connectRefused, parserFault, type ParserError, requestHeadFault } from './malformed.ts';
import { requestIdOf } from './arrival.ts';

/** The options shared by all of a listener's connections. */
export interface ConnectionOptions {
  /** Called for every request that is refused before it reaches the application. */
  readonly onRefused: (error: GatewayError, requestId: string) => void;
}

/** A request that the parser has read, and its response. */
interface Received {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * A client's connection. Passes requests to the application until one is refused, or until the last one allowed on the
 * connection. The response to a refused message is written after the responses to earlier requests.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #app: RequestListener;
  readonly #options: ConnectionOptions;
  readonly #bytesBefore: number;
  #latest: Received | undefined;
  #previous: ServerResponse | undefined;
  /** The requests that wait until the client has read earlier responses. */
  #held: Received[] = [];
  /** The requests that wait until the parser has returned. */
  #late: Received[] = [];
  #closing = false;
  #refused = false;

  constructor(socket: Socket, app: RequestListener, options: ConnectionOptions) {
    this.#socket = socket;
    this.#app = app;
    this.#options = options;
    // A TLS handshake counts as received bytes.
    this.#bytesBefore = socket.bytesRead;
  }

  /** Handles a request whose head the parser has read. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    const earlier = this.#latest?.response;
    // Requests after the last one are not handled (RFC 9112 §9.6).
    if (this.#refused || earlier?.shouldKeepAlive === false) return readNoMore(this.#socket);
    this.#previous = earlier?.writableFinished === false ? earlier : undefined;
    this.#latest = { request, response };
    if (this.#closing || asksForUpgrade(request)) response.shouldKeepAlive = false;
    const fault = requestHeadFault(request);
    if (fault !== undefined) this.refuse(fault);
    // Node has stopped reading, because the client does not read. What had already arrived must wait, too.
    else if (this.#held.length > 0 || this.#socket.isPaused()) this.#hold(this.#latest);
    // The parser refuses some codings only after it has passed on the request.
    else if (this.#late.length > 0 || request.headers['transfer-encoding'] !== undefined) this.#delay(this.#latest);
    else this.#app(request, response);
  }

  /** Passes a request to the application once the parser has returned, in its order. */
  #delay(received: Received): void {
    this.#late.push(received);
    if (this.#late.length > 1) return;
    process.nextTick(() => {
      for (const { request, response } of this.#late.splice(0)) this.#app(request, response);
    });
  }

  #hold(received: Received): void {
    this.#held.push(received);
    if (this.#held.length === 1) this.#socket.once('resume', () => this.#release());
  }

  /** Passes the held requests to the application, each after the response to the one before. */
  #release(): void {
    const next = this.#held[0];
    if (next === undefined || this.#socket.destroyed) return;
    next.response.once('finish', () => {
      this.#held.shift();
      this.#release();
    });
    this.#app(next.request, next.response);
  }

  /** Handles an error from Node's parser or one of its timeouts. */
  failed(cause: ParserError): void {
    const fault = parserFault(cause);
    if (fault === undefined || !this.#socket.writable) this.#socket.destroy();
    // The parser reports this code when more bytes arrive after a message with `Connection: close`.
    else if (cause.code === 'HPE_CLOSED_CONNECTION') this.#refused = true;
    else this.refuse(fault);
  }

  /**
   * Closes the connection after the response to the latest request. If the head of that response has already been sent,
   * closes the connection after the next response instead.
   */
  closeSoon(): void {
    this.#closing = true;
    const { response } = this.#latest ?? {};
    if (response !== undefined && !response.headersSent) response.shouldKeepAlive = false;
  }

  /** True if nothing has been received on the connection. */
  get unused(): boolean {
    return this.#latest === undefined && this.#socket.bytesRead === this.#bytesBefore;
  }

  /** True if no response is pending. Part of a request may have been received if the connection is not unused. */
  get idle(): boolean {
    return this.#latest?.response.writableFinished ?? this.unused;
  }

  /** Closes the connection at once. An incomplete response must not look complete to the client. */
  cut(): void {
    const { response } = this.#latest ?? {};
    if (response?.writableFinished === false) breakOff(response);
    this.#socket.destroy();
  }

  /** Closes an idle connection. */
  end(): void {
    this.#socket.destroySoon();
  }

  /** Refuses the message that the parser has read or is reading, and reads no others. */
  refuse(error: GatewayError): void {
    if (this.#refused) return;
    this.#refused = true;
    readNoMore(this.#socket);
    const latest = this.#latest;
    // The refused message is the latest request if that request is incomplete; otherwise, it is a later message.
    const own = latest?.request.complete === false ? latest : undefined;
    this.#late = this.#late.filter((one) => one !== own);
    this.#held = this.#held.filter((one) => one !== own);
    const id = requestIdOf(own?.request.headers['x-request-id']);
    this.#options.onRefused(error, id);
    const pending = own === undefined ? latest?.response : this.#previous;
    const write = () => writeRefusal(this.#socket, error, id, own);
    if (pending === undefined || pending.writableFinished) write();
    else pending.once('finish', write);
  }
}

/**
 * Makes a server receive its requests through `Connection`. The server emits `event` for each socket that is ready for
 * requests. Returns the set of open connections.
 */
export function attachConnections(
  server: Pick<Server, 'on'>,
  event: 'connection' | 'secureConnection',
  app: RequestListener,
  options: ConnectionOptions,
): ReadonlySet<Connection> {
  const connections = new Set<Connection>();
  const bySocket = new WeakMap<object, Connection>();
  const received: RequestListener = (request, response) => {
    bySocket.get(request.socket)?.begin(request, response);
  };
  server.on('request', received);
  // For an expectation other than 100-continue, Node would send an empty 417 response.
  server.on('checkExpectation', received);
  server.on(event, (socket: Socket) => {
    if (socket.destroyed) return;
    const connection = new Connection(socket, app, options);
    connections.add(connection);
    bySocket.set(socket, connection);
    // With a listener for data, Node reads through the stream, which holds back what arrives while the connection is
    // paused. A TLS socket would otherwise pass it to the paused parser, which then fails.
    if (event === 'secureConnection') socket.on('data', discard);
    socket.once('close', () => connections.delete(connection));
  });
  // The gateway is not a forward proxy. Node no longer reads from such a connection, and would end it without a response.
  server.on('connect', (_request, socket: Duplex) => {
    socket.on('error', () => socket.destroy());
    bySocket.get(socket)?.refuse(connectRefused());
  });
  server.on('clientError', (cause, socket) => {
    const connection = bySocket.get(socket);
    if (connection === undefined) socket.destroy();
    else connection.failed(cause);
  });
  return connections;
}

/**
 * Closes the connection of a response that is incomplete. For an HTTP/1.0 client, a body without a length ends where the
 * connection ends, so an ordinary close would make the body look complete. In that case, the connection is reset.
 */
export function breakOff(res: ServerResponse): void {
  const { req, socket } = res;
  const endsBody = res.headersSent && !res.chunkedEncoding && req.httpVersionMinor === 0;
  // A TLS connection cannot be reset this way. It is closed without the alert that marks a complete end (RFC 8446 §6.1).
  if (endsBody && socket !== null && !('encrypted' in socket)) socket.resetAndDestroy();
  else res.destroy();
}

/** Returns whether the operating system has received the complete response. */
export function isSent(res: ServerResponse): boolean {
  return res.writableEnded && !res.destroyed && res.socket?.writableLength === 0;
}

/**
 * Returns whether a client asks for another protocol. It gets an ordinary response, and the connection is closed, because
 * Node loses what has arrived together with such a request.
 */
function asksForUpgrade({ headers: { upgrade, connection = '' } }: IncomingMessage): boolean {
  return upgrade !== undefined && /upgrade/i.test(connection);
}

const discard = () => undefined;

/** Discards what else arrives, so that the parser sees none of it. The end of the connection is still noticed. */
function readNoMore(socket: Socket): void {
  socket.removeAllListeners('data').on('data', discard);
}

/** The time allowed for a refused client to read the response, in milliseconds. The connection is then destroyed. */
const LAST_READ_MS = 1000;

/**
 * Writes the response to a request refused before it reaches the application, and closes the connection. `own` contains
 * the refused request and its response if the parser has already emitted them.
 */
function writeRefusal(
  socket: Socket,
  error: GatewayError,
  id: string,
  own: { readonly request: IncomingMessage; readonly response: ServerResponse } | undefined,
): void {
  // The connection has already been closed after the previous response.
  if (!socket.writable) return;
  if (own?.response.headersSent) {
    const { response } = own;
    // The response has already begun, so the client would treat further bytes as part of it.
    if (!response.writableEnded) breakOff(response);
    else if (response.writableFinished) endAfter(socket, '');
    else response.once('finish', () => endAfter(socket, ''));
    return;
  }
  const { contentType, body } = toErrorBody(error, id, 'normalized');
  const head = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\nCache-Control: no-store\r\nVia: 1.1 portico\r\nX-Request-Id: ${id}\r\nConnection: close\r\n\r\n`;
  endAfter(socket, own?.request.method === 'HEAD' ? head : head + body.toString());
}

/**
 * Writes the last bytes, and gives the client time to read them before the connection is destroyed. If the connection
 * were closed immediately, unread incoming bytes could cause it to be reset before the client had read the response.
 */
function endAfter(socket: Socket, text: string): void {
  socket.end(text);
  const timer = setTimeout(() => socket.destroy(), LAST_READ_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}
