import type { ServerResponse } from 'node:http';
import { codedEtag, type Coding, CODINGS, createAcceptedCodings, notModified } from '../cache/representation.ts';
import type { CodedBody, PageCache } from '../cache/memory-pages.ts';
import { contentType, headerValue, type HeaderPairs } from '../model/header-pairs.ts';
import type { StreamedBody } from '../model/streamed-body.ts';
import type { Trace } from '../model/trace.ts';
import { severityOf, type Violation } from '../model/violation.ts';
import type { Dispatched } from '../pipeline/dispatch.ts';
import type { Reply } from '../pipeline/reply.ts';
import { breakOff, isSent } from './connection.ts';

/** Options for the headers that the gateway adds to every response. */
export interface EdgeHeaderOptions extends ContractStatusOptions<Trace> {
  readonly contractStatusHeader: boolean;
  /** Adds the headers of features. `headers` alternates names and values. */
  readonly addFeatureHeaders?: (trace: Trace, headers: string[]) => void;
}

/** The functions needed to compute the `Contract-Status` header. */
interface ContractStatusOptions<Checked> {
  /** Returns a violation's fingerprint as used in the ledger. */
  readonly reportIdOf: (trace: Checked, violation: Violation) => string;
  /** Returns whether the baseline accepts a violation. */
  readonly isAccepted: (trace: Checked, violation: Violation) => boolean;
}

/** Options that control how replies are written. */
export interface WriteReplyOptions extends EdgeHeaderOptions {
  /** Returns a stored response in a content coding. */
  readonly coded: PageCache['coded'];
  /** How long a client may stop reading while a streamed body is being sent to it, in milliseconds. */
  readonly clientTimeoutMs: number;
}

/** The properties of a request that determine how its reply is written. */
interface ReplyTo {
  readonly method: string;
  readonly ifNoneMatch: string | undefined;
  readonly acceptEncoding: string | undefined;
}

/** Headers that prevent other caches from storing a response that the gateway does not store. */
const UNCACHED: HeaderPairs = [['Cache-Control', 'private, no-store']];

const acceptedCodings = createAcceptedCodings();

/**
 * Writes a reply and returns the number of body bytes sent. If a streamed body is not yet complete, returns a promise
 * for that number. A streamed body that cannot be written completely is destroyed.
 */
export function writeReply(
  res: ServerResponse,
  plan: Dispatched['plan'],
  reply: Reply,
  { method, ifNoneMatch, acceptEncoding }: ReplyTo,
  trace: Trace,
  options: WriteReplyOptions,
): number | Promise<number> {
  const isDocumented = plan.operation !== undefined;
  const finished = plan.operation === undefined || plan.transparent || plan.cache !== undefined;
  const visible = finished
    ? reply
    : { ...reply, headers: [...plan.responseHeaders.visible(reply.headers), ...UNCACHED] };
  const headers: string[] = [];
  addHeaders(headers, visible.headers);
  addEdgeHeaders(headers, trace, options);
  if (isDocumented && mayBeSniffed(visible)) headers.push('X-Content-Type-Options', 'nosniff');
  try {
    return write(res, visible, headers, {
      coded: codedBody(reply, acceptedCodings(acceptEncoding), options),
      method,
      ifNoneMatch: plan.transparent ? undefined : ifNoneMatch,
      trace,
      clientTimeoutMs: options.clientTimeoutMs,
    });
  } catch (error) {
    if (!Buffer.isBuffer(reply.body)) reply.body.destroy();
    throw error;
  }
}

/**
 * Returns whether a response is not declared as JSON, so that a browser might interpret it as a web page. The response
 * may contain text from the upstream's users, so it is sent with the `nosniff` header in every mode. The header cannot
 * break any web page, because no web page loads the response of a documented operation as a script or a style sheet.
 */
function mayBeSniffed({ status, headers, storedAs }: Reply): boolean {
  // All stored responses are JSON.
  if (storedAs !== undefined) return false;
  const type = contentType(headers);
  if (type !== undefined && JSON_TYPE.test(type)) return false;
  const hasBody = status !== 204 && status !== 304;
  return hasBody && headerValue(headers, 'x-content-type-options') === undefined;
}

const JSON_TYPE = /^\s*application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

function codedBody(
  { storedAs, body }: Reply,
  codings: readonly Coding[],
  { coded }: WriteReplyOptions,
): CodedBody | undefined {
  if (codings.length === 0 || storedAs === undefined || !Buffer.isBuffer(body)) return undefined;
  return coded(storedAs, body, codings);
}

interface ReplyContext {
  readonly method: string;
  readonly ifNoneMatch: string | undefined;
  /** The body in a content coding that the client accepts. Undefined if there is none. */
  readonly coded: CodedBody | undefined;
  readonly trace: Pick<Trace, 'bytes'>;
  /** The maximum time, in milliseconds, for which the client may stop reading while a streamed body is being sent. */
  readonly clientTimeoutMs: number;
}

/**
 * Sends a reply, with the headers that depend on how it is sent. If the client's entity tag matches, sends a 304
 * response. The response to a HEAD request has no body.
 */
function write(res: ServerResponse, reply: Reply, headers: string[], context: ReplyContext): number | Promise<number> {
  if (res.destroyed) {
    if (!Buffer.isBuffer(reply.body)) reply.body.destroy();
    return 0;
  }
  if (reply.etag !== undefined) {
    const etag = etagFor(reply.etag, context);
    headers.push('ETag', etag.tag);
    if (etag.matches) {
      res.writeHead(304, withoutHeaders(headers, CONTENT)).end();
      return 0;
    }
  }
  if (context.coded !== undefined) headers.push('Content-Encoding', context.coded.coding);
  if (!Buffer.isBuffer(reply.body)) {
    if (reply.reason === undefined) res.writeHead(reply.status, headers);
    else res.writeHead(reply.status, reply.reason, headers);
    if (context.method !== 'HEAD') return writeStream(res, reply.body, context);
    // A response to a HEAD request is sent without a body, but the upstream connection is released only once the body
    // has been read.
    reply.body.read({ part: () => true, end: () => undefined });
    res.end();
    return 0;
  }
  // For a HEAD request, the body's length may be unknown.
  const body = context.coded?.bytes ?? reply.body;
  const lengthUnknown = context.method === 'HEAD' && body.length === 0;
  if (reply.status !== 204 && reply.status !== 304 && !lengthUnknown && !hasHeader(headers, 'content-length'))
    headers.push('Content-Length', String(body.length));
  res.writeHead(reply.status, headers);
  const omitsBody = context.method === 'HEAD' || reply.status === 204 || reply.status === 304;
  res.end(omitsBody ? undefined : body);
  return omitsBody ? 0 : body.length;
}

/**
 * Writes a streamed body no faster than the client reads it. Returns the number of bytes written. If some bytes have
 * not been sent yet, returns a promise for that number, which resolves when the response closes. If the body turns out
 * to be incomplete, the received part is sent and the connection is then closed abruptly, because a normal end would
 * make the response look complete. If the client disconnects or stops reading for too long, the body is destroyed.
 */
function writeStream(
  res: ServerResponse,
  body: StreamedBody,
  { trace, clientTimeoutMs }: ReplyContext,
): number | Promise<number> {
  let bytes = 0;
  // Bytes are counted as they are written, because the trace may be recorded before all of them have been written.
  trace.bytes = 0;
  let unsent = 0;
  let state = 'reading' as 'reading' | 'read' | 'broken';
  let isWaiting = false;
  let clientTimer: NodeJS.Timeout | undefined;
  const awaitClient = () => {
    clearTimeout(clientTimer);
    clientTimer = setTimeout(() => breakOff(res), clientTimeoutMs);
  };
  const sent = () => {
    unsent -= 1;
    if (state === 'broken' && unsent === 0) breakOff(res);
  };
  body.read({
    part(part) {
      bytes += part.length;
      trace.bytes = bytes;
      unsent += 1;
      if (res.write(part, sent)) return true;
      if (isWaiting) awaitClient();
      return false;
    },
    end(failure) {
      state = failure === undefined ? 'read' : 'broken';
      if (state === 'read') res.end();
      else if (unsent === 0) breakOff(res);
      if (isWaiting) awaitClient();
    },
  });
  // Most bodies are complete after the first read. In that case, the number of bytes is returned immediately.
  if (state === 'read' && isSent(res)) return bytes;
  isWaiting = true;
  if (state !== 'reading' || res.writableNeedDrain) awaitClient();
  res.on('drain', () => {
    clearTimeout(clientTimer);
    body.resume();
  });
  const { promise, resolve } = Promise.withResolvers<number>();
  res.once('close', () => {
    clearTimeout(clientTimer);
    body.destroy();
    resolve(bytes);
  });
  return promise;
}

/**
 * Returns the entity tag of the form to send (plain or in a content coding), and whether the client already has the
 * page. If the client has the page in another form, which is just as current, returns that form's tag.
 */
function etagFor(
  plain: string,
  { ifNoneMatch, coded }: ReplyContext,
): { readonly tag: string; readonly matches: boolean } {
  const tag = codedEtag(plain, coded?.coding);
  if (ifNoneMatch === undefined) return { tag, matches: false };
  if (notModified(ifNoneMatch, tag)) return { tag, matches: true };
  const other = [undefined, ...CODINGS]
    .map((one) => codedEtag(plain, one))
    .find((one) => notModified(ifNoneMatch, one));
  return other === undefined ? { tag, matches: false } : { tag: other, matches: true };
}

/** Adds headers to a flat list. Destructuring each pair would be slower. */
function addHeaders(flat: string[], headers: HeaderPairs): void {
  for (let at = 0; at < headers.length; at += 1) {
    const header = headers[at];
    if (header !== undefined) flat.push(header[0], header[1]);
  }
}

// These headers do not apply to a 304 response, which has no body (RFC 9110 §15.4.5).
const CONTENT = /^content-(?!location)/i;

/** Removes headers by name from a list of alternating names and values. */
export function withoutHeaders(flat: readonly string[], names: RegExp): string[] {
  const remaining: string[] = [];
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at] ?? '';
    if (!names.test(name)) remaining.push(name, flat[at + 1] ?? '');
  }
  return remaining;
}

/**
 * Adds the headers that every response has: the request id, `Via` and the contract status. `headers` is a list of
 * alternating names and values.
 */
export function addEdgeHeaders(headers: string[], trace: Trace, options: EdgeHeaderOptions): void {
  const hasId = hasHeader(headers, 'x-request-id');
  headers.push('Via', '1.1 portico');
  if (!hasId) headers.push('X-Request-Id', trace.requestId);
  options.addFeatureHeaders?.(trace, headers);
  // A response from the cache or from the gateway itself was not checked during this request, so the contract status is
  // omitted.
  const checked = trace.responses !== undefined || trace.violations.length > 0;
  if (options.contractStatusHeader && checked) {
    try {
      headers.push('Contract-Status', contractStatus(trace, options));
    } catch (error) {
      // If computing the contract status fails, the response is sent without the header.
      trace.cause ??= error;
    }
  }
}

/** Returns whether a list of alternating names and values contains a header. `name` must be in lower case. */
function hasHeader(headers: readonly string[], name: string): boolean {
  for (let at = 0; at < headers.length; at += 2)
    if (headers[at]?.length === name.length && headers[at]?.toLowerCase() === name) return true;
  return false;
}

/**
 * Returns the value of the `Contract-Status` header, a structured field (RFC 9651). It states the result of checking
 * the request and its response against the contract, along with the fingerprint of the worst violation. `accepted`
 * means that the baseline accepts all violations, and `incomplete` that the body ends too early to be judged. `count`
 * and `worst` include accepted violations only if there are no others.
 */
export function contractStatus<Checked extends Pick<Trace, 'violations' | 'responses'>>(
  trace: Checked,
  { reportIdOf, isAccepted }: ContractStatusOptions<Checked>,
): string {
  const { violations, responses } = trace;
  const skipped =
    responses?.outcome === 'skipped' || responses?.outcome === 'failed' ? `; skipped=${token(responses.reason)}` : '';
  const unaccepted = violations.filter((violation) => !isAccepted(trace, violation));
  const worst = worstOf(unaccepted) ?? worstOf(violations);
  const status = statusOf({ found: violations.length, unaccepted: unaccepted.length, reason: responses?.reason });
  if (worst === undefined) return `${status}${skipped}`;
  const accepted = violations.length - unaccepted.length;
  const others = unaccepted.length === 0 || accepted === 0 ? '' : `; accepted=${accepted}`;
  const count = unaccepted.length === 0 ? violations.length : unaccepted.length;
  return `${status}; count=${count}; worst=${worst.category}; report=${token(reportIdOf(trace, worst))}${others}${skipped}`;
}

/** The values of the header `Contract-Status`, without their parameters (docs/ledger.md). */
export const CONTRACT_STATUSES = ['conforming', 'incomplete', 'accepted', 'violations'] as const;

function statusOf(checked: {
  readonly found: number;
  readonly unaccepted: number;
  readonly reason: string | undefined;
}): (typeof CONTRACT_STATUSES)[number] {
  if (checked.unaccepted > 0) return 'violations';
  if (checked.found > 0) return 'accepted';
  return checked.reason === 'truncated' ? 'incomplete' : 'conforming';
}

function worstOf(violations: readonly Violation[]): Violation | undefined {
  let worst: Violation | undefined;
  for (const violation of violations)
    if (worst === undefined || severityOf(violation) < severityOf(worst)) worst = violation;
  return worst;
}

// Formats a string as a structured field token. A token starts with a letter; digits and hyphens are allowed only after
// the first character.
function token(reason: string | undefined): string {
  const text = (reason ?? '').replaceAll(/[^\w-]+/g, '-').slice(0, 40);
  return /^[A-Za-z]/.test(text) ? text : 'unknown';
}
