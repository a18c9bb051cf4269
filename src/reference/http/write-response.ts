import type { ServerResponse } from 'node:http';
import type { LegacyResponse } from './legacy-response.ts';

/** A response with its body as bytes. */
export interface SerializedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: string | undefined;
  readonly body: Buffer;
}

/** Serializes a response. */
export function serializeResponse({ status, headers, payload }: LegacyResponse): SerializedResponse {
  if (payload.kind === 'json') {
    const body = Buffer.from(JSON.stringify(payload.value));
    return { status, headers, contentType: 'application/json;charset=UTF-8', body };
  }
  if (payload.kind === 'html') {
    return { status, headers, contentType: 'text/html;charset=utf-8', body: Buffer.from(payload.text) };
  }
  if (payload.kind === 'bytes') {
    return { status, headers, contentType: payload.mimeType, body: Buffer.from(payload.bytes) };
  }
  return { status, headers, contentType: undefined, body: Buffer.alloc(0) };
}

/** Sets the status and the headers, including `Content-Length`. */
export function writeHead(response: ServerResponse, content: SerializedResponse): void {
  const type = content.contentType === undefined ? {} : { 'Content-Type': content.contentType };
  response.writeHead(content.status, {
    Server: 'Apache-Coyote/1.1',
    ...type,
    ...content.headers,
    'Content-Length': content.body.byteLength,
  });
}

/** Writes a complete response. For a HEAD request, Node omits the body. */
export function writeResponse(response: ServerResponse, content: SerializedResponse): void {
  writeHead(response, content);
  response.end(content.body);
}
