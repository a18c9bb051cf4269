import { Readable } from 'node:stream';
import { errors, type Dispatcher } from 'undici';
import type { HeaderPairs } from '../model/header-pairs.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import { endToEnd, toHeaderPairs } from './hop-by-hop.ts';
import { toTransportFailure, type ExchangePhase } from './transport-failure.ts';

/** The head of an answer whose body is still coming. */
export interface SentAnswer {
  readonly status: number;
  /** End-to-end fields only. */
  readonly headers: HeaderPairs;
  /** Ends when the body is whole; otherwise errors with `UpstreamFailure`. */
  readonly body: Readable;
}

/** How far the answer had come when the promise was rejected. */
export interface SendProgress {
  /** True once a byte of the answer has come. */
  answered: boolean;
}

/** What bounds one sending. */
export interface SendBounds {
  /** Its reason, when it is an `UpstreamFailure`, is what the exchange fails with. */
  readonly signal: AbortSignal;
  /** Longest pause that the reader of the body may make. */
  readonly readerTimeoutMs: number;
}

/** Sends one request once and resolves with the head of the answer; rejects with `UpstreamFailure`, or with undici's error for a request that cannot be written. */
export function sendRequest(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { signal, readerTimeoutMs }: SendBounds,
  progress: SendProgress,
): Promise<SentAnswer> {
  return new Promise((resolve, reject) => {
    let phase: ExchangePhase = 'connecting';
    let controller: Dispatcher.DispatchController | undefined;
    let body: Readable | undefined;
    let pause: NodeJS.Timeout | undefined;

    const finish = () => signal.removeEventListener('abort', abort);
    const fail = (error: unknown) => {
      finish();
      if (error instanceof errors.InvalidArgumentError) return reject(error);
      const isOurs = request.body instanceof Readable && request.body.errored === error;
      const failure = isOurs ? new UpstreamFailure('aborted', { cause: error }) : toTransportFailure(error, phase);
      return body ? void body.destroy(failure) : reject(failure);
    };
    const abort = () => {
      const reason = toTransportFailure(signal.reason, phase);
      // Before the connection stands there is nothing to abort; `onRequestStart` then finds the signal aborted.
      controller?.abort(reason);
      fail(reason);
    };

    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) return abort();

    return void dispatcher.dispatch(request, {
      onRequestStart(given) {
        controller = given;
        phase = 'waiting';
        if (signal.aborted) given.abort(toTransportFailure(signal.reason, phase));
      },
      onResponseStarted() {
        progress.answered = true;
      },
      onResponseStart(given, status) {
        progress.answered = true;
        if (status < 200) return;
        phase = 'body';
        body = readableOf(given, () => clearTimeout(pause), finish);
        resolve({ status, headers: endToEnd(toHeaderPairs(rawHeadersOf(given))), body });
      },
      onResponseData(given, chunk) {
        if (body?.push(chunk) !== false) return;
        given.pause();
        clearTimeout(pause);
        pause = setTimeout(() => body?.destroy(new UpstreamFailure('aborted')), readerTimeoutMs);
      },
      onResponseEnd() {
        finish();
        body?.push(null);
      },
      onResponseError: (_given, error) => fail(error),
    });
  });
}

function readableOf(controller: Dispatcher.DispatchController, onRead: () => void, finish: () => void): Readable {
  const body = new Readable({
    read() {
      onRead();
      controller.resume();
    },
    destroy(error, done) {
      onRead();
      finish();
      // After the end this does nothing; before it the connection is of no more use.
      controller.abort(error ?? new UpstreamFailure('aborted'));
      done(error);
    },
  });
  // It may break before its reader listens; the reader still finds it broken.
  body.on('error', () => undefined);
  return body;
}

function rawHeadersOf(controller: Dispatcher.DispatchController): readonly (string | Buffer)[] {
  return Array.isArray(controller.rawHeaders) ? controller.rawHeaders : [];
}
