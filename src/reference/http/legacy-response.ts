import type { ServerResponse } from 'node:http';

/**
 * The body of a response: a JSON value (the only kind of body that chaos rules can change), an HTML page, raw bytes, or
 * nothing.
 */
type LegacyPayload =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'html'; readonly text: string }
  | { readonly kind: 'bytes'; readonly mimeType: string; readonly bytes: Uint8Array }
  | { readonly kind: 'empty' };

/** A response from the reference server, before serialization. */
export interface LegacyResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: LegacyPayload;
}

/** Returns a JSON response. */
export function jsonResponse(
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): LegacyResponse {
  return { status, headers, payload: { kind: 'json', value } };
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Request Entity Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/**
 * Returns an error as a servlet container's HTML page, which the legacy server sends even for a `.json` path
 * (docs/field-facts.md, grade D).
 */
export function htmlErrorPage(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): LegacyResponse {
  const title = `HTTP Status ${status} - ${REASONS[status] ?? 'Error'}`;
  const text =
    `<!DOCTYPE html><html><head><title>Apache Tomcat/7.0.54 - Error report</title></head><body><h1>${title}</h1>` +
    `<hr size="1" noshade="noshade"><p><b>type</b> Status report</p><p><b>message</b> <u>${message}</u></p>` +
    `<p><b>description</b> <u>${REASONS[status] ?? 'Error'}</u></p><hr size="1" noshade="noshade">` +
    '<h3>Apache Tomcat/7.0.54</h3></body></html>';
  return { status, headers, payload: { kind: 'html', text } };
}

const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="Community"' };

/** Returns an error in the form `{error}`. */
export function plainError(status: number, message: string): LegacyResponse {
  return jsonResponse({ error: message }, status);
}

/**
 * Returns the response for a missing permission: status 401 without a challenge, in the form `{errors: {message}}`,
 * with an HTML line break in the message (docs/field-facts.md, grade D; choice `permission-401`).
 */
export function missingPermission(): LegacyResponse {
  const message = "You don't have permission to do this action.<br>Please login as another user";
  return jsonResponse({ errors: { message } }, 401);
}

/** Returns the response for an invalid credential: a 401 with a challenge and a body of the form `{error}`. */
export function badCredential(): LegacyResponse {
  return jsonResponse({ error: 'Bad credentials' }, 401, CHALLENGE);
}

/** Returns the response for a missing credential: an empty 401 with a challenge (choice `credential-401`). */
export function missingCredential(): LegacyResponse {
  return { status: 401, headers: CHALLENGE, payload: { kind: 'empty' } };
}

/** Returns status 400 for an invalid id. The message is the one documented for job ids (choice `id-malformed`). */
export function invalidId(name: string): LegacyResponse {
  return plainError(400, `The provided '${name}' is/are invalid`);
}

/** Returns status 404 for a well-formed id that does not exist, as documented for jobs (choice `id-unknown`). */
export function notFound(): LegacyResponse {
  return plainError(404, 'not found');
}

/** Thrown to end an operation early. The app writes the response contained in this error. */
export class LegacyRefusal extends Error {
  readonly response: LegacyResponse;

  constructor(response: LegacyResponse) {
    super(`refused with ${response.status}`);
    this.name = 'LegacyRefusal';
    this.response = response;
  }
}

/** Ends the operation with the given response. */
export function refuse(response: LegacyResponse): never {
  throw new LegacyRefusal(response);
}

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
