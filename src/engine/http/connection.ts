import { type IncomingMessage, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type GatewayError, toErrorBody } from '../errors/gateway-error.ts';
import { checkNode } from '../node-internals/check-node.ts';
import { detachParser } from '../node-internals/http-parser.ts';
import { readIntoSharedBuffer } from '../node-internals/shared-read-buffer.ts';
import { headersTooLarge, parserFault, type ParserError, requestHeadFault, requestLineFault } from './malformed.ts';
import { requestIdOf } from './arrival.ts';

/** The options shared by all of a listener's connections. */
export interface ConnectionOptions {
  readonly maxHeaderBytes: number;
  /** Called for every request that is refused before it reaches the application. */
  readonly onRefused: (error: GatewayError, requestId: string) => void;
}

const CR = 13;
const LF = 10;

/**
 * A client's connection. It passes incoming bytes to Node's parser, one message at a time. It stops reading after a
 * refused message or after the last message allowed on the connection. The response to a refused message is written
 * after the responses to earlier requests.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #app: RequestListener;
  readonly #options: ConnectionOptions;
  readonly #parse: (bytes: Buffer) => void;
  #latest: { readonly request: IncomingMessage; readonly response: ServerResponse } | undefined;
  #previous: ServerResponse | undefined;
  /** The part of a message to which the next byte belongs: the request line, the rest of the head, or the body. */
  #part: 'line' | 'head' | 'body' = 'line';
  /** The beginning of a request line that is not yet complete. */
  #line: Buffer | undefined;
  #skippedBlankLine = false;
  /** How many bytes of the next blank line (CR LF CR LF) have been received. The line is complete after 4. */
  #blankLine = 0;
  /** The number of body bytes not yet received. Undefined for a chunked body. */
  #bodyLeft: number | undefined;
  /** True if the parser has emitted a request that has not yet been passed to the application. */
  #begun = false;
  #closing = false;
  #refused = false;

  /** Takes control of a socket that Node's HTTP server has just accepted. */
  constructor(socket: Socket, app: RequestListener, options: ConnectionOptions) {
    this.#socket = socket;
    this.#app = app;
    this.#options = options;
    this.#parse = detachParser(socket);
    const take = (chunk: Buffer) => this.#take(chunk);
    // `data` events are emitted only for bytes put back with `unshift`. Bytes read into the shared buffer are passed to
    // `take` directly.
    socket.on('data', take);
    readIntoSharedBuffer(socket, take);
  }

  /** Handles a request whose head the parser has read. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    const earlier = this.#latest?.response;
    this.#previous = earlier?.writableFinished === false ? earlier : undefined;
    this.#latest = { request, response };
    if (this.#closing) response.shouldKeepAlive = false;
    const fault = requestHeadFault(request);
    if (fault !== undefined) this.#refuse(fault);
    else this.#begun = true;
  }

  /** Handles an error from Node's parser or one of its timeouts. */
  failed(cause: ParserError): void {
    const fault = parserFault(cause);
    if (fault === undefined || !this.#socket.writable) this.#socket.destroy();
    // The parser reports this code when more bytes arrive after a message with `Connection: close`.
    else if (cause.code === 'HPE_CLOSED_CONNECTION') this.#refused = true;
    else this.#refuse(fault);
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

  /** True if no request is being received and no response is pending. */
  get idle(): boolean {
    return this.#part === 'line' && this.#line === undefined && (this.#latest?.response.writableFinished ?? true);
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

  #take(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.#refused) {
      // Node pauses a connection while the client is not reading its responses.
      if (this.#socket.isPaused()) {
        this.#socket.unshift(Buffer.from(chunk.subarray(at)));
        return;
      }
      if (this.#part === 'line') at = this.#takeLine(chunk, at);
      else if (this.#part === 'head') at = this.#takeHead(chunk, at, at);
      else at = this.#takeBody(chunk, at);
    }
  }

  #takeLine(chunk: Buffer, at: number): number {
    // Bytes after the last request are not read (RFC 9112 §9.6).
    if (this.#latest?.response.shouldKeepAlive === false) return chunk.length;
    const lf = chunk.indexOf(LF, at);
    if (lf < 0) {
      const part = chunk.subarray(at);
      const line = this.#line === undefined ? Buffer.from(part) : Buffer.concat([this.#line, part]);
      this.#line = line;
      if (line.length > this.#options.maxHeaderBytes) this.#refuse(headersTooLarge());
      else this.#parse(part);
      return chunk.length;
    }
    const line = this.#line === undefined ? chunk : Buffer.concat([this.#line, chunk.subarray(at, lf)]);
    const from = this.#line === undefined ? at : 0;
    const to = this.#line === undefined ? lf : line.length;
    this.#line = undefined;
    // One blank line before a request line is allowed (RFC 9112 §2.2).
    if (to - from === 1 && line[from] === CR && !this.#skippedBlankLine) {
      this.#skippedBlankLine = true;
      this.#parse(chunk.subarray(at, lf + 1));
      return lf + 1;
    }
    const fault = requestLineFault(line, from, to);
    if (fault !== undefined) {
      this.#refuse(fault);
      return chunk.length;
    }
    this.#skippedBlankLine = false;
    this.#part = 'head';
    this.#blankLine = 2;
    return this.#takeHead(chunk, at, lf + 1);
  }

  #takeHead(chunk: Buffer, at: number, searchFrom: number): number {
    const end = this.#pastBlankLine(chunk, searchFrom);
    this.#parse(at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end));
    // The parser refuses some heads only after emitting the request. The request is therefore passed to the application
    // only after the parser has returned.
    if (this.#begun && !this.#refused) this.#dispatch();
    if (this.#blankLine !== 4 || this.#endMessage()) return end;
    this.#part = 'body';
    const length = this.#latest?.request.headers['content-length'];
    this.#bodyLeft = length === undefined ? undefined : Number(length);
    return end;
  }

  #dispatch(): void {
    this.#begun = false;
    if (this.#latest !== undefined) this.#app(this.#latest.request, this.#latest.response);
  }

  #takeBody(chunk: Buffer, at: number): number {
    // A chunked body ends with a blank line but can also contain blank lines, so the parser decides where it ends.
    const end =
      this.#bodyLeft === undefined
        ? this.#pastBlankLine(chunk, at)
        : Math.min(chunk.length, at + Math.max(1, this.#bodyLeft));
    if (this.#bodyLeft !== undefined) this.#bodyLeft -= end - at;
    this.#parse(chunk.subarray(at, end));
    this.#endMessage();
    return end;
  }

  /** Returns whether the latest message is complete, in which case the next byte starts a request line. */
  #endMessage(): boolean {
    if (this.#latest?.request.complete === false) return false;
    this.#part = 'line';
    return true;
  }

  /** Returns the index after the next blank line. The blank line may have started in an earlier chunk. */
  #pastBlankLine(chunk: Buffer, from: number): number {
    let found = this.#blankLine === 4 ? 0 : this.#blankLine;
    let at = from;
    while (found < 4 && at < chunk.length) {
      const byte = chunk[at];
      at += 1;
      if (byte === CR) found = found === 2 ? 3 : 1;
      else if (byte === LF && (found === 1 || found === 3)) found += 1;
      else {
        found = 0;
        const next = chunk.indexOf(CR, at);
        at = next < 0 ? chunk.length : next;
      }
    }
    this.#blankLine = found;
    return at;
  }

  #refuse(error: GatewayError): void {
    if (this.#refused) return;
    this.#refused = true;
    const latest = this.#latest;
    // The refused message is the latest request if that request is incomplete; otherwise, it is a later message.
    const own = latest?.request.complete === false ? latest : undefined;
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
  checkNode();
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
    socket.once('close', () => connections.delete(connection));
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
