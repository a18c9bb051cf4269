import { Readable } from 'node:stream';
import { type Dispatcher, errors } from 'undici';
import { GatewayError } from '../errors/gateway-error.ts';
import { type HeaderPairs, headerValue } from '../model/header-pairs.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import { endToEnd } from './headers.ts';
import { type ExchangePhase, toTransportFailure } from './failures/transport-failure.ts';
import { StreamedBody } from '../model/streamed-body.ts';
import type { ExchangeSession } from './sessions.ts';

/** A request in the form required by undici. */
export interface WireRequest extends Dispatcher.DispatchOptions {
  /** True if the connection has already been used for another request. The connection sets this property. */
  reused?: boolean;
  /** The address to which the request was sent. Set by the pool if the upstream has several addresses. */
  sentTo?: string;
  /** The caller's session, whose cookies the connection adds to the request. Undefined if no session is kept. */
  readonly session?: ExchangeSession | undefined;
  /** Set by the connection when an interim response to this request arrives. */
  interim?: boolean;
  /**
   * Closes the connection that is being opened for this request, if any. In `observe` mode, there is no time limit for
   * opening a connection, so the socket could otherwise outlive the request.
   */
  stopConnecting?: () => void;
  /**
   * Set by the connection if its socket failed while it was in use for this request. undici treats a reset as the
   * normal end of a body without a length, so this property must be checked when such a body ends.
   */
  broken?: boolean;
}

/**
 * Returns the path to send to the upstream: the base path followed by the raw target. The target is neither normalized
 * nor parsed as a URL, so `//host`, backslashes and dots remain part of the path. Throws if the target contains a
 * character that could end the request line.
 */
export function upstreamPath(basePath: string, target: string): string {
  if (!target.startsWith('/') || /[^\x21-\xff]/.test(target)) {
    throw new GatewayError('unsafe_path', 'The path contains characters that cannot be forwarded.');
  }
  return basePath + target;
}

/** Sends requests over one or more connections. */
export type RequestSender = Pick<Dispatcher, 'dispatch'>;

/** How much of the response had arrived when the promise was rejected. */
export interface SendProgress {
  /** True once the first byte of the response has arrived. */
  responseStarted: boolean;
}

/**
 * Returns the error for a failed request: an `UpstreamFailure`, or undici's error for a request that cannot be written.
 */
export function sendingFailure(error: unknown, request: WireRequest, phase: ExchangePhase): Error {
  if (error instanceof errors.InvalidArgumentError) return error;
  const isBodyError = request.body instanceof Readable && request.body.errored === error;
  return isBodyError ? new UpstreamFailure('aborted', { cause: error }) : toTransportFailure(error, phase);
}

// RFC 9112 §4: a reason phrase consists of spaces, tabs and visible characters.
// oxlint-disable-next-line no-control-regex -- the pattern matches control characters
const CONTROL = /[\0-\u0008\u000a-\u001f\u007f]/;

/** The beginning of a response, as read by an HTTP parser. */
interface ReceivedHead {
  readonly method: string;
  readonly status: number | undefined;
  readonly reason: string | undefined;
  /** The headers, as alternating names and values. */
  readonly rawHeaders: unknown;
  /** The caller's session, which keeps the session cookies of the response. */
  readonly session: ExchangeSession | undefined;
}

/**
 * Returns the head of a final response, or a failure if the response cannot be forwarded in any mode. A response cannot
 * be forwarded if its status or reason phrase is malformed (RFC 9110 §15, RFC 9112 §4), or if it has a transfer coding
 * that the gateway did not request and cannot remove. `Transfer-Encoding` applies to a single connection and is not
 * forwarded, so the client would mistake the encoded bytes for the content (RFC 9112 §6.1).
 */
export function readHead({
  method,
  status,
  reason,
  rawHeaders,
  session,
}: ReceivedHead): ResponseHead | UpstreamFailure {
  const isFinal = status !== undefined && status >= 200 && status <= 599;
  if (!isFinal || (reason !== undefined && CONTROL.test(reason)))
    return new UpstreamFailure('reset', { failureCause: 'http_protocol_error' });
  const raw = Array.isArray(rawHeaders) ? (rawHeaders as (string | Buffer)[]) : [];
  const codings: string[] = [];
  const received = endToEnd(raw, 0, (coding) => codings.push(coding));
  const headers = session === undefined ? received : session.receive(received);
  if (!codings.every((coding) => KNOWN_CODING.test(coding)))
    return new UpstreamFailure('reset', {
      cause: new Error('the transfer coding is not chunked'),
      failureCause: 'http_response_transfer_coding',
    });
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
  const isChunked = codings.some((coding) => coding.length === 'chunked'.length);
  return { headers, isFramed: !hasBody || isChunked || headerValue(headers, 'content-length') !== undefined };
}

/** The head of a final response that can be forwarded. */
interface ResponseHead {
  /** The end-to-end headers. */
  readonly headers: HeaderPairs;
  /**
   * False if the body ends only when the connection ends. In that case, a connection failure looks like the end of
   * the body.
   */
  readonly isFramed: boolean;
}

// Old servers send `identity` for a body without a transfer coding (RFC 2616 §3.6).
const KNOWN_CODING = /^(?:chunked|identity)$/i;

/** Stops one exchange before its response is complete. */
export interface Stop {
  /** The reason why the exchange was stopped. Undefined while it may continue. */
  readonly reason: UpstreamFailure | undefined;
  /** Stops the exchange. Only the first reason counts. */
  stop(reason: UpstreamFailure): void;
  /**
   * Sets the function to call once, when the exchange is stopped. Check `reason` first, because the exchange may
   * already have been stopped. Pass undefined to remove the function.
   */
  listen(onStop: ((reason: UpstreamFailure) => void) | undefined): void;
}

/** Creates a stop signal for one exchange. If the exchange sends several requests, each uses the signal in turn. */
export function createStop(): Stop {
  let reason: UpstreamFailure | undefined;
  let listener: ((reason: UpstreamFailure) => void) | undefined;
  return {
    get reason() {
      return reason;
    },
    stop(given) {
      if (reason) return;
      reason = given;
      listener?.(given);
    },
    listen(onStop) {
      listener = onStop;
    },
  };
}

/** A complete response in memory. Its content coding has not been removed. */
export interface BufferedResponse {
  readonly status: number;
  /** The end-to-end headers. */
  readonly headers: HeaderPairs;
  readonly body: Buffer;
}

/** The limits for sending a request whose response is read into memory. */
interface BufferedBounds {
  readonly stop: Stop;
  /** The maximum size of the body in bytes, as received. A larger body fails with `too_large`. */
  readonly limit: number;
}

/**
 * Sends a request once and resolves with the whole response. Does not use an intermediate stream. Rejects with the same
 * errors as `sendRequest`.
 */
export function sendBuffered(
  dispatcher: RequestSender,
  request: WireRequest,
  { stop, limit }: BufferedBounds,
  progress: SendProgress,
): Promise<BufferedResponse> {
  return new Promise((resolve, reject) => {
    if (stop.reason) return reject(stop.reason);
    let phase: ExchangePhase = 'connecting';
    let controller: Dispatcher.DispatchController | undefined;
    let status = 0;
    let head: ResponseHead = { headers: [], isFramed: false };
    const parts: Buffer[] = [];
    let length = 0;

    const fail = (error: unknown) => {
      stop.listen(undefined);
      reject(sendingFailure(error, request, phase));
    };
    const giveUp = (reason: UpstreamFailure) => {
      fail(reason);
      if (controller === undefined) request.stopConnecting?.();
      else controller.abort(reason);
    };
    stop.listen(giveUp);

    return void dispatcher.dispatch(request, {
      onRequestStart(given) {
        controller = given;
        phase = 'waiting';
        if (stop.reason) given.abort(stop.reason);
      },
      onResponseStarted() {
        progress.responseStarted = true;
      },
      onResponseStart(given, code, _headers, reason) {
        progress.responseStarted = true;
        const { method, session } = request;
        const read = readHead({ method, status: code, reason, rawHeaders: given.rawHeaders, session });
        if (read instanceof UpstreamFailure) return giveUp(read);
        phase = 'body';
        status = code;
        head = read;
        const declared = Number(headerValue(head.headers, 'content-length') ?? 0);
        if (declared > limit && method !== 'HEAD') giveUp(new UpstreamFailure('too_large', { limitBytes: limit }));
      },
      onResponseData(_given, part) {
        length += part.length;
        if (length > limit) giveUp(new UpstreamFailure('too_large', { limitBytes: limit }));
        else parts.push(part);
      },
      onResponseEnd() {
        if (request.broken && !head.isFramed) return fail(new UpstreamFailure('truncated'));
        stop.listen(undefined);
        const [first] = parts;
        resolve({
          status,
          headers: head.headers,
          body: parts.length === 1 && first ? first : Buffer.concat(parts, length),
        });
      },
      onResponseError: (_given, error) => fail(error),
    });
  });
}

/** The head of a response whose body is still being received. */
export interface StreamedResponse {
  readonly status: number;
  /** The reason phrase. Each character represents one byte. */
  readonly reason: string;
  /** The end-to-end headers. */
  readonly headers: HeaderPairs;
  /** Ends when the body is complete, or fails with an `UpstreamFailure` if the body is incomplete. */
  readonly body: StreamedBody;
}

/** The limits for sending one request. */
interface SendBounds {
  /** Stops the exchange. The reason becomes the exchange's error. */
  readonly stop: Stop;
  /** The maximum time, in milliseconds, for which the body's reader may pause. */
  readonly readerTimeoutMs: number;
}

/**
 * Sends a request once and resolves with the head of the response. Rejects with an `UpstreamFailure`, or with undici's
 * error for a request that cannot be written.
 */
export function sendRequest(
  dispatcher: RequestSender,
  request: WireRequest,
  { stop, readerTimeoutMs }: SendBounds,
  progress: SendProgress,
): Promise<StreamedResponse> {
  return new Promise((resolve, reject) => {
    let phase: ExchangePhase = 'connecting';
    let controller: Dispatcher.DispatchController | undefined;
    let body: StreamedBody | undefined;
    let pause: NodeJS.Timeout | undefined;
    let isFramed = false;

    const finish = () => {
      stop.listen(undefined);
      clearTimeout(pause);
    };
    const fail = (error: unknown) => {
      finish();
      if (body === undefined) return reject(sendingFailure(error, request, phase));
      return body.finish(toTransportFailure(error, phase));
    };
    const giveUp = (reason: UpstreamFailure) => {
      if (body !== undefined) return body.destroy(reason);
      if (controller === undefined) request.stopConnecting?.();
      else controller.abort(reason);
      return fail(reason);
    };

    if (stop.reason) return reject(stop.reason);
    stop.listen(giveUp);

    return void dispatcher.dispatch(request, {
      onRequestStart(given) {
        controller = given;
        phase = 'waiting';
        if (stop.reason) given.abort(stop.reason);
      },
      onResponseStarted() {
        progress.responseStarted = true;
      },
      onResponseStart(given, status, _headers, reason) {
        progress.responseStarted = true;
        const { method, session } = request;
        const head = readHead({ method, status, reason, rawHeaders: given.rawHeaders, session });
        if (head instanceof UpstreamFailure) return giveUp(head);
        isFramed = head.isFramed;
        phase = 'body';
        body = new StreamedBody({
          pause() {
            given.pause();
            pause = setTimeout(() => body?.destroy(), readerTimeoutMs);
          },
          resume() {
            clearTimeout(pause);
            given.resume();
          },
          abort(failure) {
            finish();
            given.abort(failure);
          },
        });
        resolve({ status, reason: reasonBytes(reason), headers: head.headers, body });
      },
      onResponseData: (_given, part) => body?.push(part),
      onResponseEnd() {
        if (request.broken && !isFramed) return fail(new UpstreamFailure('truncated'));
        finish();
        return body?.finish();
      },
      onResponseError: (_given, error) => fail(error),
    });
  });
}

// undici decodes the phrase as UTF-8, but Node can write only characters that represent one byte each.
function reasonBytes(reason = ''): string {
  return /^[\x20-\x7e]*$/.test(reason) ? reason : Buffer.from(reason).toString('latin1');
}
