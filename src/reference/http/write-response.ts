import type { ServerResponse } from 'node:http';
import type { LegacyAnswer } from './legacy-response.ts';

/** An answer as it goes to the socket. */
export interface WrittenAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: string | undefined;
  readonly body: Buffer;
}

/** Serialises an answer. */
export function toWrittenAnswer({ status, headers, payload }: LegacyAnswer): WrittenAnswer {
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

/** Sets status and headers, the length included. */
export function writeHead(response: ServerResponse, answer: WrittenAnswer): void {
  const type = answer.contentType === undefined ? {} : { 'Content-Type': answer.contentType };
  response.writeHead(answer.status, {
    Server: 'Apache-Coyote/1.1',
    ...type,
    ...answer.headers,
    'Content-Length': answer.body.byteLength,
  });
}

/** Writes an answer whole; a HEAD request gets its head only. */
export function writeAnswer(response: ServerResponse, answer: WrittenAnswer): void {
  writeHead(response, answer);
  response.end(answer.body);
}
