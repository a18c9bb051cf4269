import { Readable } from 'node:stream';
import { type Dispatcher, errors } from 'undici';
import { BodyParts } from '../../lib/body-parts.ts';
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
  /** How many bytes of the response's body have been read. */
  bodyBytes?: number;
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

/**
 * One request on its way, and the handler of what happens to it. A subclass decides what becomes of the response's body.
 * The events are methods rather than functions in an object, so that a request needs no function of its own for each.
 */
abstract class Sending<T> implements Dispatcher.DispatchHandler {
  protected readonly request: WireRequest;
  protected phase: ExchangePhase = 'connecting';
  readonly #stop: Stop;
  readonly #progress: SendProgress;
  #controller: Dispatcher.DispatchController | undefined;
  #isFramed = false;
  #resolve: ((sent: T) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;

  constructor(request: WireRequest, stop: Stop, progress: SendProgress) {
    this.request = request;
    this.#stop = stop;
    this.#progress = progress;
  }

  /** Called with the head of a final response. */
  protected abstract begin(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: HeaderPairs,
    reason: string | undefined,
  ): void;
  abstract onResponseData(controller: Dispatcher.DispatchController, part: Buffer): void;
  /** Called once the whole body has arrived. */
  protected abstract complete(): void;

  /**
   * Sends the request. Rejects with an `UpstreamFailure`, or with undici's error for a request that cannot be written.
   */
  over(dispatcher: RequestSender): Promise<T> {
    return new Promise((resolve, reject) => {
      const { reason } = this.#stop;
      if (reason) return reject(reason);
      this.#resolve = resolve;
      this.#reject = reject;
      this.#stop.listen((given) => this.giveUp(given));
      return void dispatcher.dispatch(this.request, this);
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.phase = 'waiting';
    if (this.#stop.reason) controller.abort(this.#stop.reason);
  }

  onResponseStarted(): void {
    this.#progress.responseStarted = true;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    reason: string | undefined,
  ): void {
    this.#progress.responseStarted = true;
    const { method, session } = this.request;
    const head = readHead({ method, status, reason, rawHeaders: controller.rawHeaders, session });
    if (head instanceof UpstreamFailure) return this.giveUp(head);
    this.phase = 'body';
    this.#isFramed = head.isFramed;
    return this.begin(controller, status, head.headers, reason);
  }

  onResponseEnd(): void {
    if (this.request.broken && !this.#isFramed) return this.fail(new UpstreamFailure('truncated'));
    this.finish();
    return this.complete();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  protected resolve(sent: T): void {
    this.#resolve?.(sent);
  }

  /** Called when the exchange no longer needs to be stopped. */
  protected finish(): void {
    this.#stop.listen(undefined);
  }

  protected fail(error: unknown): void {
    this.finish();
    this.#reject?.(sendingFailure(error, this.request, this.phase));
  }

  protected giveUp(reason: UpstreamFailure): void {
    this.fail(reason);
    if (this.#controller === undefined) this.request.stopConnecting?.();
    else this.#controller.abort(reason);
  }
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

/** Collects the parts of the body, without an intermediate stream. */
class BufferedSending extends Sending<BufferedResponse> {
  readonly #limit: number;
  readonly #body = new BodyParts();
  #status = 0;
  #headers: HeaderPairs = [];

  constructor(request: WireRequest, { stop, limit }: BufferedBounds, progress: SendProgress) {
    super(request, stop, progress);
    this.#limit = limit;
  }

  protected override begin(_controller: Dispatcher.DispatchController, status: number, headers: HeaderPairs): void {
    this.#status = status;
    this.#headers = headers;
    const declared = Number(headerValue(headers, 'content-length') ?? 0);
    if (declared > this.#limit && this.request.method !== 'HEAD') this.#refuseSize();
  }

  override onResponseData(_controller: Dispatcher.DispatchController, part: Buffer): void {
    this.#body.add(part);
    this.request.bodyBytes = this.#body.length;
    if (this.#body.length > this.#limit) this.#refuseSize();
  }

  protected override complete(): void {
    this.resolve({ status: this.#status, headers: this.#headers, body: this.#body.whole() });
  }

  #refuseSize(): void {
    this.giveUp(new UpstreamFailure('too_large', { limitBytes: this.#limit }));
  }
}

/**
 * Sends a request once and resolves with the whole response. Rejects with an `UpstreamFailure`, or with undici's error
 * for a request that cannot be written.
 */
export function sendBuffered(
  dispatcher: RequestSender,
  request: WireRequest,
  bounds: BufferedBounds,
  progress: SendProgress,
): Promise<BufferedResponse> {
  return new BufferedSending(request, bounds, progress).over(dispatcher);
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

/** The limits for sending a request whose response is streamed. */
interface StreamedBounds {
  /** Stops the exchange. The reason becomes the exchange's error. */
  readonly stop: Stop;
  /** The maximum time, in milliseconds, for which the body's reader may pause. */
  readonly readerTimeoutMs: number;
}

/** Passes the parts of the body to its reader. From the head on, the body takes all failures. */
class StreamedSending extends Sending<StreamedResponse> {
  readonly #readerTimeoutMs: number;
  #body: StreamedBody | undefined;
  #pause: NodeJS.Timeout | undefined;

  constructor(request: WireRequest, { stop, readerTimeoutMs }: StreamedBounds, progress: SendProgress) {
    super(request, stop, progress);
    this.#readerTimeoutMs = readerTimeoutMs;
  }

  protected override begin(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: HeaderPairs,
    reason: string | undefined,
  ): void {
    const body = new StreamedBody({
      pause: () => {
        controller.pause();
        this.#pause = setTimeout(() => body.destroy(), this.#readerTimeoutMs);
      },
      resume: () => {
        clearTimeout(this.#pause);
        controller.resume();
      },
      abort: (failure) => {
        this.finish();
        controller.abort(failure);
      },
    });
    this.#body = body;
    this.resolve({ status, reason: reasonBytes(reason), headers, body });
  }

  override onResponseData(_controller: Dispatcher.DispatchController, part: Buffer): void {
    this.request.bodyBytes = (this.request.bodyBytes ?? 0) + part.length;
    this.#body?.push(part);
  }

  protected override complete(): void {
    this.#body?.finish();
  }

  protected override finish(): void {
    super.finish();
    clearTimeout(this.#pause);
  }

  protected override fail(error: unknown): void {
    if (this.#body === undefined) return super.fail(error);
    this.finish();
    return this.#body.finish(toTransportFailure(error, this.phase));
  }

  protected override giveUp(reason: UpstreamFailure): void {
    if (this.#body === undefined) super.giveUp(reason);
    else this.#body.destroy(reason);
  }
}

/**
 * Sends a request once and resolves with the head of the response and its unread body. Rejects with the same errors as
 * `sendBuffered`.
 */
export function sendStreamed(
  dispatcher: RequestSender,
  request: WireRequest,
  bounds: StreamedBounds,
  progress: SendProgress,
): Promise<StreamedResponse> {
  return new StreamedSending(request, bounds, progress).over(dispatcher);
}

// undici decodes the phrase as UTF-8, but Node can write only characters that represent one byte each.
function reasonBytes(reason = ''): string {
  return /^[\x20-\x7e]*$/.test(reason) ? reason : Buffer.from(reason).toString('latin1');
}
