import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { gzipEtag, notModified } from '../cache/etag.ts';
import { createAcceptsGzip } from '../cache/gzip.ts';
import type { PageCache } from '../cache/page-cache.ts';
import { headerValue, type HeaderPairs } from '../model/header-pairs.ts';
import type { Trace } from '../model/trace.ts';
import type { Dispatched } from '../pipeline/dispatch.ts';
import type { Reply } from '../pipeline/reply.ts';
import { visibleHeaders } from '../pipeline/stored-reply.ts';
import { edgeHeaders, type EdgeHeaderOptions } from './edge-headers.ts';

/** What of the gateway decides how a reply is written. */
export interface WriteReplyOptions extends EdgeHeaderOptions {
  /** Returns the gzip form of a stored page. */
  readonly gzip: PageCache['gzip'];
  /** Longest pause of a client that reads a streamed body. */
  readonly clientTimeoutMs: number;
}

/** What of the request decides how its reply is written. */
interface ReplyTo {
  readonly method: string;
  readonly ifNoneMatch: string | undefined;
  readonly acceptEncoding: string | undefined;
}

/** Responses that are not stored here must not be stored anywhere else either. */
const UNCACHED: HeaderPairs = [['Cache-Control', 'private, no-store']];

const acceptsGzip = createAcceptsGzip();

/**
 * Writes the reply of a plan; returns the bytes of body sent, at once where the body is whole. A streamed body is destroyed
 * where it cannot be written to its end.
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
  const finished = !isDocumented || plan.transparent || plan.cache !== undefined;
  const visible = finished ? reply : { ...reply, headers: [...visibleHeaders(reply.headers), ...UNCACHED] };
  const edge = edgeHeaders(trace, options, visible.headers);
  try {
    return write(res, visible, {
      gzip: acceptsGzip(acceptEncoding) ? gzipOf(reply, options) : undefined,
      method,
      ifNoneMatch: plan.transparent ? undefined : ifNoneMatch,
      extra: isDocumented ? [...edge, ...sniffingHeaders(visible)] : edge,
      trace,
      clientTimeoutMs: options.clientTimeoutMs,
    });
  } catch (error) {
    if (!Buffer.isBuffer(reply.body)) reply.body.destroy();
    throw error;
  }
}

const NO_SNIFFING: HeaderPairs = [['X-Content-Type-Options', 'nosniff']];

/**
 * Keeps browsers from making a page of a response that is not JSON, in every mode: the upstream may have put text of its users
 * into it. That is safe for documented operations, which no page loads as a script or a style sheet.
 */
function sniffingHeaders({ status, headers }: Reply): HeaderPairs {
  const type = headerValue(headers, 'content-type');
  if (type !== undefined && JSON_TYPE.test(type)) return [];
  const hasBody = status !== 204 && status !== 304;
  return hasBody && headerValue(headers, 'x-content-type-options') === undefined ? NO_SNIFFING : [];
}

const JSON_TYPE = /^\s*application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

function gzipOf({ storedAs, body }: Reply, { gzip }: WriteReplyOptions): Buffer | undefined {
  return storedAs === undefined || !Buffer.isBuffer(body) ? undefined : gzip(storedAs, body);
}

interface ReplyContext {
  readonly method: string;
  readonly ifNoneMatch: string | undefined;
  /** The gzip form of the body, for a client that accepts it. */
  readonly gzip: Buffer | undefined;
  /** Headers that the edge adds. */
  readonly extra: HeaderPairs;
  readonly trace: Pick<Trace, 'bytes'>;
  readonly clientTimeoutMs: number;
}

/** Sends a reply: 304 for a matching entity tag, no body for HEAD. */
function write(res: ServerResponse, reply: Reply, context: ReplyContext): number | Promise<number> {
  if (res.destroyed) {
    if (!Buffer.isBuffer(reply.body)) reply.body.destroy();
    return 0;
  }
  const headers: string[] = [];
  addFields(headers, reply.headers);
  addFields(headers, context.extra);
  if (reply.etag !== undefined) {
    const etag = etagFor(reply.etag, context);
    headers.push('ETag', etag.tag);
    if (etag.matches) {
      res.writeHead(304, withoutContentFields(headers)).end();
      return 0;
    }
  }
  if (context.gzip !== undefined) headers.push('Content-Encoding', 'gzip');
  if (!Buffer.isBuffer(reply.body)) {
    if (reply.reason === undefined) res.writeHead(reply.status, headers);
    else res.writeHead(reply.status, reply.reason, headers);
    if (context.method !== 'HEAD') return writeStream(res, reply.body, context);
    // It has no body, but its end gives the upstream's connection back.
    reply.body.on('error', () => undefined).resume();
    res.end();
    return 0;
  }
  // An upstream that was asked for the head alone may not have said how long the body is.
  const body = context.gzip ?? reply.body;
  const lengthUnknown = context.method === 'HEAD' && body.length === 0;
  if (reply.status !== 204 && reply.status !== 304 && !lengthUnknown && !hasField(headers, 'content-length'))
    headers.push('Content-Length', String(body.length));
  res.writeHead(reply.status, headers);
  const silent = context.method === 'HEAD' || reply.status === 204 || reply.status === 304;
  res.end(silent ? undefined : body);
  return silent ? 0 : body.length;
}

/**
 * The entity tag of the form that is sent, and whether the client has it. A client that has the other form of the same page is
 * told so by that form's tag: what it keeps is as current.
 */
function etagFor(
  plain: string,
  { ifNoneMatch, gzip }: ReplyContext,
): { readonly tag: string; readonly matches: boolean } {
  const tag = gzip === undefined ? plain : gzipEtag(plain);
  if (ifNoneMatch === undefined) return { tag, matches: false };
  if (notModified(ifNoneMatch, tag)) return { tag, matches: true };
  const other = gzip === undefined ? gzipEtag(plain) : plain;
  return notModified(ifNoneMatch, other) ? { tag: other, matches: true } : { tag, matches: false };
}

/**
 * Writes a body as it comes, no faster than the client reads it; returns how many bytes were written once the response is
 * closed. A body that breaks must break the client's connection too, because a clean end would look like a whole response; but
 * only after everything before that has been sent. A client that leaves, or that pauses for too long, ends the body.
 */
function writeStream(res: ServerResponse, body: Readable, { trace, clientTimeoutMs }: ReplyContext): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  let bytes = 0;
  // Counted as they go, for a response that closes before its end is recorded at that moment.
  trace.bytes = 0;
  let unsent = 0;
  let state: 'reading' | 'read' | 'broken' = 'reading';
  let patience: NodeJS.Timeout | undefined;
  const awaitClient = () => {
    clearTimeout(patience);
    patience = setTimeout(() => res.destroy(), clientTimeoutMs);
  };
  const sent = () => {
    unsent -= 1;
    if (state === 'broken' && unsent === 0) res.destroy();
  };
  const breakOff = () => {
    if (state !== 'reading') return;
    state = 'broken';
    if (unsent === 0) res.destroy();
    else awaitClient();
  };
  res.on('drain', () => {
    clearTimeout(patience);
    body.resume();
  });
  res.once('close', () => {
    clearTimeout(patience);
    body.destroy();
    resolve(bytes);
  });
  body.on('data', (part: Buffer) => {
    bytes += part.length;
    trace.bytes = bytes;
    unsent += 1;
    if (res.write(part, sent)) return;
    body.pause();
    awaitClient();
  });
  body.once('end', () => {
    state = 'read';
    awaitClient();
    res.end();
  });
  body.once('error', breakOff);
  body.once('close', breakOff);
  if (body.destroyed) breakOff();
  else body.resume();
  return promise;
}

/** Adds fields without the iterators that taking each pair apart would cost. */
function addFields(flat: string[], fields: HeaderPairs): void {
  for (let at = 0; at < fields.length; at += 1) {
    const field = fields[at];
    if (field !== undefined) flat.push(field[0], field[1]);
  }
}

function hasField(flat: readonly string[], name: string): boolean {
  for (let at = 0; at < flat.length; at += 2)
    if (flat[at]?.length === name.length && flat[at]?.toLowerCase() === name) return true;
  return false;
}

/** RFC 9110 §15.4.5: a 304 says nothing of a body that it does not have. */
function withoutContentFields(flat: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at] ?? '';
    if (!/^content-(?!location)/i.test(name)) kept.push(name, flat[at + 1] ?? '');
  }
  return kept;
}
