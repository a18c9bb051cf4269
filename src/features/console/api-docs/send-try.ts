import { type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import { toAuthorization } from '../../../lib/basic-credentials.ts';
import { readBody } from '../../../lib/read-body.ts';
import type { PublicAddress } from '../../../engine/running-gateway.ts';
import { headerPairs } from '../../../engine/model/header-pairs.ts';

/** The response to a request from the "Try it" form. Redirects are not followed, and requests are never retried. */
interface TryResponse {
  readonly status: number;
  readonly statusText: string;
  /** The response headers in their original order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The time until the response's last byte arrived, in seconds. */
  readonly seconds: number;
  /** The body's text. Empty if the body is not text. */
  readonly body: string;
  readonly text: boolean;
  /** The number of bytes received, capped at the number that can be shown. */
  readonly bytes: number;
  /** True if only the first part of the body is shown because the whole body is too long. */
  readonly cut: boolean;
  /** True if the connection was lost before the end of the body. */
  readonly broken: boolean;
}

const MAX_SHOWN_BYTES = 512 * 1024;
const TIMEOUT_MS = 60_000;

/**
 * Sends a request once, on its own connection. The request can be sent only to the gateway's own public listener, never
 * to another host.
 */
export function sendTry(
  { host, port, connect }: PublicAddress,
  basePath: string,
  request: TryRequest,
): Promise<TryResponse> {
  const startedAt = performance.now();
  const body = request.body === undefined ? undefined : Buffer.from(request.body);
  return new Promise((resolve, reject) => {
    const sent = httpRequest({
      host,
      port,
      method: request.method,
      path: `${basePath}${request.target}`,
      headers: { ...request.headers, ...(body && { 'Content-Length': body.byteLength }) },
      // Node calls `createConnection` only if the `agent` option is absent.
      ...(connect === undefined ? { agent: false } : { createConnection: connect }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      readBody(response, { bytes: MAX_SHOWN_BYTES })
        .then((read) => {
          const bytes = read.bytes.subarray(0, MAX_SHOWN_BYTES);
          const shown = bodyText(bytes, response.headers);
          // The rest of a larger body is not needed. If the connection is lost, the received part is still shown, and
          // `broken` is true.
          if (read.state === 'larger') response.destroy();
          return {
            status: response.statusCode ?? 0,
            statusText: response.statusMessage ?? '',
            headers: headerPairs(response.rawHeaders),
            seconds: (performance.now() - startedAt) / 1000,
            body: shown ?? '',
            text: shown !== undefined,
            bytes: bytes.byteLength,
            cut: read.state === 'larger',
            broken: read.state === 'broken',
          };
        })
        .then(resolve, reject);
    });
    sent.end(body);
  });
}

/**
 * Decodes a body as text in its character set. Returns undefined if the body is not valid text, for example if it is
 * compressed or is an image.
 */
function bodyText(bytes: Uint8Array, headers: IncomingHttpHeaders): string | undefined {
  const coding = headers['content-encoding'] ?? 'identity';
  const decoder = coding === 'identity' ? decoderFor(headers['content-type'] ?? '') : undefined;
  try {
    // If the last character is incomplete, it is silently omitted.
    const text = decoder?.decode(bytes, { stream: true });
    return text?.includes('\0') === true ? undefined : text;
  } catch {
    return undefined;
  }
}

function decoderFor(mediaType: string): TextDecoder | undefined {
  const charset = /;\s*charset="?(?<name>[^\s;"]+)/i.exec(mediaType)?.groups?.['name'] ?? 'utf-8';
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch {
    return undefined;
  }
}

/** A valid request that an operator sends to the gateway with the form. */
interface TryRequest {
  readonly method: string;
  /** The request target, including the query. It starts with `/services/v2/`. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** The result of reading the form: a request, or the name of an invalid form field. */
type TryForm =
  | { readonly ok: true; readonly request: TryRequest }
  | { readonly ok: false; readonly field: string; readonly message: string };

/** The methods that never change anything. */
export const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

const METHODS: ReadonlySet<string> = new Set([...SAFE_METHODS, 'POST', 'PUT', 'PATCH', 'DELETE']);
const MAX_TARGET = 8192;
const MAX_VALUE = 1000;
const MAX_NAME = 256;
/**
 * The headers that the form can send in addition to the credential. None of them affects message framing, the host or
 * proxies.
 */
const HEADERS: ReadonlyMap<string, string> = new Map(
  ['Accept', 'Accept-Language', 'Cache-Control', 'Content-Type', 'If-None-Match', 'Portico-Force', 'X-Request-Id'].map(
    (name) => [name.toLowerCase(), name],
  ),
);

/** Reads the form. Accepts only API targets and the listed headers, and limits the size of every form field. */
export function readTryRequest(form: unknown, basePath: string): TryForm {
  const fields = isRecord(form) ? form : {};
  const { method, target, body } = fields;
  if (typeof method !== 'string' || !METHODS.has(method)) return refuse('method', 'This method cannot be tried.');
  if (typeof target !== 'string' || !isTarget(target, basePath))
    return refuse('target', `The target must begin with ${basePath} and must not contain spaces or dot segments.`);
  if (body !== undefined && typeof body !== 'string') return refuse('body', 'The body must be a string.');
  if (body !== undefined && SAFE_METHODS.has(method)) return refuse('body', `${method} must not have a body.`);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(isRecord(fields['headers']) ? fields['headers'] : {})) {
    const known = HEADERS.get(name.toLowerCase());
    if (known === undefined)
      return refuse('headers', `Only these headers can be sent: ${[...HEADERS.values()].join(', ')}.`);
    if (typeof value !== 'string' || value.length > MAX_VALUE || !/^[\x20-\x7e]*$/.test(value))
      return refuse('headers', `${known} must be one line of at most ${MAX_VALUE} ASCII characters.`);
    headers[known] = value;
  }
  const { credential } = fields;
  if (credential !== undefined) {
    const authorization = isRecord(credential) ? authorizationOf(credential) : undefined;
    if (authorization === undefined)
      return refuse('credential', 'A credential must consist of a password and a name without a colon.');
    headers['Authorization'] = authorization;
  }
  return { ok: true, request: { method, target, headers, body } };
}

const refuse = (field: string, message: string) => ({ ok: false, field, message }) as const;

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTarget(target: string, basePath: string): boolean {
  if (target.length > MAX_TARGET || !target.startsWith(basePath) || !/^[\x21-\x7e]+$/.test(target)) return false;
  const [path = ''] = target.split(/[?#]/, 1);
  const segments = path.split(/\/|\\|%2f|%5c/i).map((one) => one.replaceAll(/%2e/gi, '.'));
  return !target.includes('#') && !segments.some((one) => /^\.\.?(?:;|$)/.test(one));
}

function authorizationOf({ name, password }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof name !== 'string' || typeof password !== 'string') return undefined;
  if (name === '' || name.length > MAX_NAME || password.length > MAX_NAME || name.includes(':')) return undefined;
  return toAuthorization(name, password);
}
