import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { toErrorBody } from '../errors/error-body.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { requestIdOf } from './read-arrival.ts';

/** Answers what Node's parser refuses before there is a request: malformed, too large or too slow. */
export function answerClientErrors(server: Server, onRefused: (error: GatewayError) => void): void {
  const latest = new WeakMap<Duplex, readonly [IncomingMessage, ServerResponse]>();
  server.prependListener('request', (request, response) => latest.set(request.socket, [request, response]));
  server.on('clientError', (cause: NodeJS.ErrnoException, socket: Duplex) => {
    if (cause.code === 'ECONNRESET' || !socket.writable || answersAnother(latest.get(socket))) {
      socket.destroy();
      return;
    }
    const error = refusalOf(cause.code);
    onRefused(error);
    const { contentType, body } = toErrorBody(error, requestIdOf(undefined), 'normalized');
    socket.end(
      `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\nCache-Control: no-store\r\nVia: 1.1 portico\r\nConnection: close\r\n\r\n${body.toString()}`,
    );
  });
}

/** True while the connection still owes the answer to an earlier request: what is written now would be taken for that. */
function answersAnother(latest: readonly [IncomingMessage, ServerResponse] | undefined): boolean {
  if (latest === undefined) return false;
  const [request, response] = latest;
  return !response.writableFinished && (request.complete || response.headersSent);
}

function refusalOf(code: string | undefined): GatewayError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new GatewayError('headers_too_large', 'The header fields of the request are too large.');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new GatewayError('request_timeout', 'The request was not complete in time.');
  return new GatewayError('malformed_request', 'The request is not well-formed HTTP.');
}
