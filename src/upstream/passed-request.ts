import type { IncomingMessage } from 'node:http';
import { PassThrough, pipeline } from 'node:stream';
import type { HeaderPairs } from '../model/header-pairs.ts';

/**
 * What the proxy library sees instead of the client's request: our own fields and a harmless URL, so that nothing of
 * the client's is read by it and nothing is written to the client's request. The path is set by `pathRewrite`.
 */
export function createPassedRequest(request: IncomingMessage, headers: HeaderPairs, host: string): IncomingMessage {
  const body = new PassThrough();
  if (hasBody(request)) pipeline(request, body, () => undefined);
  else body.end();
  const passed = Object.assign(body, {
    method: request.method,
    url: '/',
    headers: toHeaderObject(request, headers, host),
    httpVersion: request.httpVersion,
    httpVersionMajor: request.httpVersionMajor,
    socket: request.socket,
  });
  return passed as unknown as IncomingMessage;
}

/** True when a request carries a body, so that it cannot be sent twice. */
export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}

// Repeated fields become lists, which Node writes one line each; a name keeps the case it came in first.
function toHeaderObject(request: IncomingMessage, headers: HeaderPairs, host: string): IncomingMessage['headers'] {
  const fields = new Map<string, { name: string; values: string[] }>();
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    const field = fields.get(key);
    if (field) field.values.push(value);
    else fields.set(key, { name, values: [value] });
  }
  const object: Record<string, string | string[]> = { host };
  for (const [key, { name, values }] of fields) {
    // The proxy library looks for it by this case only: a length that it does not see, on a DELETE or OPTIONS, it
    // overwrites with 0, and the body would be read upstream as another request.
    object[key === 'content-length' ? key : name] = values.length === 1 ? (values[0] ?? '') : values;
  }
  // The framing of the body is ours, but a body of unknown length must be framed as one, whatever the method.
  if (request.headers['transfer-encoding'] !== undefined) object['transfer-encoding'] = 'chunked';
  return object;
}
