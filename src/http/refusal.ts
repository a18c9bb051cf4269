import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { toErrorBody } from '../errors/error-body.ts';
import type { GatewayError } from '../errors/gateway-error.ts';

/** How long a refused client has to read the response before the connection is destroyed, in milliseconds. */
const LAST_READ_MS = 1000;

/**
 * Writes the response to a request that is refused before it reaches the application, and closes the connection. If the
 * parser has already emitted the request, `own` contains the request and its response.
 */
export function writeRefusal(
  socket: Socket,
  error: GatewayError,
  id: string,
  own: { readonly request: IncomingMessage; readonly response: ServerResponse } | undefined,
): void {
  // The previous response has already closed the connection.
  if (!socket.writable) return;
  if (own?.response.headersSent) {
    const { response } = own;
    // The response has already started, so the client would treat anything written now as part of it.
    if (!response.writableEnded) socket.destroy();
    else if (response.writableFinished) endAfter(socket, '');
    else response.once('finish', () => endAfter(socket, ''));
    return;
  }
  const { contentType, body } = toErrorBody(error, id, 'normalized');
  const head = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\nCache-Control: no-store\r\nVia: 1.1 portico\r\nX-Request-Id: ${id}\r\nConnection: close\r\n\r\n`;
  endAfter(socket, own?.request.method === 'HEAD' ? head : head + body.toString());
}

/**
 * Writes the last bytes and gives the client time to read them. Without this delay, unread incoming bytes could cause
 * the connection to be reset first.
 */
function endAfter(socket: Socket, text: string): void {
  socket.end(text);
  const timer = setTimeout(() => socket.destroy(), LAST_READ_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}
