import type { IncomingMessage } from 'node:http';
import { PassThrough, pipeline, Readable } from 'node:stream';

/**
 * What the proxy library sees instead of the client's request: our own fields and a harmless URL, so that nothing of
 * the client's is read by it and nothing is written to the client's request. The path is set by `pathRewrite`.
 */
export function createPassedRequest(
  request: IncomingMessage,
  headers: Record<string, string | string[]>,
): IncomingMessage {
  const { method, httpVersion, httpVersionMajor, socket } = request;
  const passed = Object.assign(bodyOf(request), { method, url: '/', headers, httpVersion, httpVersionMajor, socket });
  return passed as unknown as IncomingMessage;
}

/** True when a request carries a body, so that it cannot be sent twice. */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function bodyOf(request: IncomingMessage): Readable {
  if (!hasBody(request)) return new Readable({ read: endAtOnce, emitClose: false, autoDestroy: false });
  const body = new PassThrough();
  pipeline(request, body, () => undefined);
  return body;
}

function endAtOnce(this: Readable): void {
  this.push(null);
}
