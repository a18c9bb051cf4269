import type { ErrorCode } from '../../errors/catalogue.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { type JsonLimits, parseBounded, parsedValue } from '../../../lib/bounded-json.ts';
import { headerValue } from '../../model/header-pairs.ts';
import { type DocumentedError, type Operation, PERMISSION_DENIED } from '../../model/operation.ts';
import { isServerError, type ServerErrors, serverMessages } from '../../model/server-errors.ts';
import type { UpstreamFailure } from '../../model/upstream-failure.ts';
import type { UpstreamResponse } from '../response-body.ts';
import { type PermissionMessage, plainText } from './permission-message.ts';
import { toGatewayError } from './transport-failure.ts';

/** The facts about the exchange that determine the translation. */
export interface FailureContext {
  readonly serverErrors: ServerErrors;
  readonly documentedErrors: readonly DocumentedError[];
  /**
   * The names of the top-level fields that a successful response for the operation can have. Empty if a successful
   * response is an array.
   */
  readonly documentedFields: ReadonlySet<string>;
  /** The owner of the credential that was sent to the upstream. `none` for anonymous callers. */
  readonly credential: 'caller' | 'service' | 'none';
  readonly isPermissionMessage: PermissionMessage;
  /** The limits for parsing a response. */
  readonly jsonLimits: JsonLimits;
  /** The `WWW-Authenticate` value of the gateway's own 401 responses. */
  readonly challenge: string;
}

/** The gateway's error for a failed exchange or for an error response from the upstream. */
export interface TranslatedFailure {
  readonly error: GatewayError;
  /** True if the upstream refused the caller's credential, which must then no longer count as verified. */
  readonly dropVerified: boolean;
}

/**
 * Returns the normalized error for an error response or a transport failure (docs/rules.md §8). Returns undefined for a
 * successful response.
 */
export function normalizeFailure(
  response: UpstreamResponse | UpstreamFailure,
  context: FailureContext,
): TranslatedFailure | undefined {
  if (response instanceof Error) return translated(toGatewayError(response));
  const failure = translateResponse(response, context);
  if (failure !== undefined) failure.error.replacedStatus = response.status;
  return failure;
}

function translateResponse(response: UpstreamResponse, context: FailureContext): TranslatedFailure | undefined {
  if (response.status < 300) return errorInSuccess(response, context);
  if (response.status < 400)
    return translated(new GatewayError('upstream_redirect', 'The upstream returned a redirect.'));
  const reading = readError(response, context.serverErrors);
  if (response.status === 401) return unauthorized(reading, context);
  if (response.status === 403) return forbidden(reading, context);
  return translated(byStatus(response, reading));
}

const translated = (error: GatewayError): TranslatedFailure => ({ error, dropVerified: false });

function unauthorized(reading: ErrorReading, context: FailureContext): TranslatedFailure {
  if (context.credential === 'service') {
    return translated(new GatewayError('upstream_credentials_refused', 'The upstream refused the service account.'));
  }
  if (reading.shape === 'html') return translated(htmlPage());
  if (isPermission(reading, context)) return denied(reading, context);
  const text = textOf(reading, 'The upstream refused the credentials.');
  const error = new GatewayError('upstream_unauthorized', text, { headers: { 'WWW-Authenticate': context.challenge } });
  return { error, dropVerified: context.credential === 'caller' };
}

function forbidden(reading: ErrorReading, context: FailureContext): TranslatedFailure {
  return reading.shape === 'html' ? translated(htmlPage()) : denied(reading, context);
}

// A denied caller without a credential receives a 401 (docs/rules.md §2). All other denied callers receive a 403
// without a challenge.
function denied(reading: ErrorReading, context: FailureContext): TranslatedFailure {
  const text = textOf(reading, 'The upstream denied permission.');
  if (context.credential !== 'none') return translated(new GatewayError('upstream_permission_denied', text));
  return translated(
    new GatewayError('credentials_required', text, { headers: { 'WWW-Authenticate': context.challenge } }),
  );
}

// The client errors whose message is forwarded unchanged.
const CLIENT_ERRORS: ReadonlyMap<number, readonly [ErrorCode, string]> = new Map([
  [400, ['upstream_bad_request', 'The upstream refused the request.']],
  [404, ['upstream_not_found', 'The upstream did not find the resource.']],
  [409, ['upstream_conflict', 'The upstream reported a conflict.']],
  [422, ['upstream_unprocessable', 'The upstream cannot process the request.']],
]);

function byStatus(response: UpstreamResponse, reading: ErrorReading): GatewayError {
  const { status } = response;
  if (status === 429) return rateLimited(response, reading);
  if (status === 503) return unavailable(response);
  if (status === 504)
    return new GatewayError('upstream_timeout', 'The upstream timed out while waiting for another server.');
  if (status >= 500) return new GatewayError('upstream_error', 'The upstream returned an error.');
  if (reading.shape === 'html') return htmlPage();
  const known = CLIENT_ERRORS.get(status);
  if (known) return new GatewayError(known[0], textOf(reading, known[1]));
  // Any other 4xx status is due to the request that the gateway composed, so the client cannot fix the problem.
  return new GatewayError('upstream_error', `The upstream returned status ${status}.`);
}

function rateLimited(response: UpstreamResponse, reading: ErrorReading): GatewayError {
  const seconds = retryAfter(headerValue(response.headers, 'retry-after'));
  const text = textOf(reading, 'The upstream is limiting requests.');
  return new GatewayError(
    'upstream_rate_limited',
    text,
    seconds === undefined ? {} : { headers: { 'Retry-After': seconds } },
  );
}

const RETRY_UNAVAILABLE_SECONDS = '5';

function unavailable(response: UpstreamResponse): GatewayError {
  const seconds = retryAfter(headerValue(response.headers, 'retry-after')) ?? RETRY_UNAVAILABLE_SECONDS;
  return new GatewayError('upstream_unavailable', 'The upstream is unavailable.', {
    headers: { 'Retry-After': seconds },
  });
}

function errorInSuccess(response: UpstreamResponse, context: FailureContext): TranslatedFailure | undefined {
  if (!Buffer.isBuffer(response.body)) return undefined;
  const body = parsedValue(parseBounded(response.body, context.jsonLimits));
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  if (!isServerError(context.serverErrors, body)) return undefined;
  if (Object.keys(body).some((name) => context.documentedFields.has(name))) return undefined;
  const reading = messageOf(body, context.serverErrors);
  if (isPermission(reading, context)) return denied(reading, context);
  return translated(
    new GatewayError('upstream_error_in_success', 'The upstream reported an error in a successful response.'),
  );
}

function isPermission(reading: ErrorReading, context: FailureContext): boolean {
  return reading.messages.some((message) => context.isPermissionMessage(message, context.documentedErrors));
}

function textOf(reading: ErrorReading, fallback: string): string {
  return plainText(reading.messages[0] ?? '') || fallback;
}

function htmlPage(): GatewayError {
  return new GatewayError('upstream_html', 'The upstream returned an HTML page.');
}

/**
 * Returns a `Retry-After` value if it is a number of seconds or a date (RFC 9110 §10.2.3) and may therefore be
 * forwarded. Returns undefined for anything else.
 */
function retryAfter(value: string | undefined): string | undefined {
  const text = value?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return text;
  const isDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text);
  return isDate && !Number.isNaN(Date.parse(text)) ? text : undefined;
}

/**
 * Returns whether a response reports a missing permission in any of the forms used by the upstream. A denial that the
 * contract also documents for other causes does not count, because it says nothing about the caller's permissions.
 */
export function isPermissionDenial(
  { documentedErrors, serverErrors }: Pick<Operation, 'documentedErrors' | 'serverErrors'>,
  response: UpstreamResponse,
  isMessage: PermissionMessage,
): boolean {
  if (response.status !== 401 && response.status !== 403) return false;
  const { messages, isJson } = readError(response, serverErrors);
  const ambiguous = documentedErrors.find(
    ({ status, causes }) => status === 403 && causes?.some((cause) => cause !== PERMISSION_DENIED) === true,
  );
  if (ambiguous === undefined && response.status === 403 && isJson) return true;
  if (ambiguous !== undefined && messages.some((text) => plainText(text) === plainText(ambiguous.text))) return false;
  return messages.some((text) => isMessage(text, documentedErrors));
}

/** The form of an error response, as recorded in the trace, and the upstream's original messages. */
interface ErrorReading {
  /** The name of a form of the API, `html`, `empty`, or `other` for any other form. */
  readonly shape: string;
  /** The upstream's original messages. A body that combines several forms has several. */
  readonly messages: readonly string[];
  /** True if the body is JSON in any form. */
  readonly isJson: boolean;
}

// The maximum size, in bytes, of an error body that the gateway searches for a message. Real error bodies are much
// smaller.
const MAX_ERROR_BYTES = 256 * 1024;
const ERROR_LIMITS: JsonLimits = { depth: 64, values: 10_000 };

/** Returns the form of an error response, as recorded in the trace. */
export function errorShape(response: UpstreamResponse, forms: ServerErrors): string {
  return readError(response, forms).shape;
}

/** Reads an error response in any of the known forms. The form of a streamed body is `other`. */
function readError(response: UpstreamResponse, forms: ServerErrors): ErrorReading {
  if (!Buffer.isBuffer(response.body)) return withoutMessage('other');
  if (response.body.length > MAX_ERROR_BYTES) return withoutMessage(isHtmlType(response) ? 'html' : 'other');
  const text = response.body
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim();
  if (text === '') return withoutMessage('empty');
  const json = parseBounded(Buffer.from(text), ERROR_LIMITS);
  if (json.state === 'parsed') return messageOf(json.value, forms);
  if (json.state === 'excess') return withoutMessage('other');
  // The server might send an HTML page for a `.json` URL and label it as JSON, so the beginning of the body is also
  // checked.
  const isHtml = isHtmlType(response) || HTML_START.test(withoutProlog(text));
  return withoutMessage(isHtml ? 'html' : 'other');
}

const withoutMessage = (shape: string): ErrorReading => ({ shape, messages: [], isJson: false });

/** Returns the messages in a parsed body. */
function messageOf(body: unknown, forms: ServerErrors): ErrorReading {
  const found = serverMessages(forms, body);
  return { shape: found[0]?.name ?? 'other', messages: found.map(({ message }) => message), isJson: true };
}

const HTML_START = /^<(?:!doctype\s+html|html|head|body)\b/i;

/**
 * Returns the input without leading comments and XML declarations. They are removed one at a time, because a single
 * regular expression for all of them would backtrack, and each additional comment would double the time.
 */
function withoutProlog(text: string): string {
  let at = 0;
  for (;;) {
    const [open, close] = text.startsWith('<!--', at) ? ['<!--', '-->'] : ['<?xml', '>'];
    if (text.slice(at, at + open.length).toLowerCase() !== open) return text.slice(at, at + HTML_START_LENGTH);
    const end = text.indexOf(close, at + open.length);
    if (end === -1) return '';
    at = end + close.length;
    while (/\s/.test(text.charAt(at))) at += 1;
  }
}

/**
 * The number of characters that are searched for the beginning of HTML. It leaves room for white space between the two
 * words of a document type declaration.
 */
const HTML_START_LENGTH = 1000;

function isHtmlType(response: UpstreamResponse): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(headerValue(response.headers, 'content-type') ?? '');
}
