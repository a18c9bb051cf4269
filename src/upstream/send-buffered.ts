import type { Dispatcher } from 'undici';
import { headerValue, type HeaderPairs } from '../model/header-pairs.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import { headersOf, isFinalHead, sendingFailure, type SendProgress, type Stop, type WireRequest } from './sending.ts';
import type { ExchangePhase } from './transport-failure.ts';

/** A complete response in memory, with its content coding. */
export interface BufferedResponse {
  readonly status: number;
  /** End-to-end headers only. */
  readonly headers: HeaderPairs;
  readonly body: Buffer;
}

/** The limits for sending a request whose response is read into memory. */
interface BufferedBounds {
  readonly stop: Stop;
  /** The maximum size of the body in bytes, as received; a larger body fails with `too_large`. */
  readonly limit: number;
}

/**
 * Sends one request once and resolves with the whole response, without an intermediate stream; rejects like
 * `sendRequest`.
 */
export function sendBuffered(
  dispatcher: Dispatcher,
  request: WireRequest,
  { stop, limit }: BufferedBounds,
  progress: SendProgress,
): Promise<BufferedResponse> {
  return new Promise((resolve, reject) => {
    if (stop.reason) return reject(stop.reason);
    let phase: ExchangePhase = 'connecting';
    let controller: Dispatcher.DispatchController | undefined;
    let status = 0;
    let headers: HeaderPairs = [];
    const parts: Buffer[] = [];
    let length = 0;

    const fail = (error: unknown) => {
      stop.listen(undefined);
      reject(sendingFailure(error, request, phase));
    };
    const giveUp = (reason: UpstreamFailure) => {
      fail(reason);
      // Before the connection is established, there is nothing to abort; `onRequestStart` checks the reason later.
      controller?.abort(reason);
    };
    stop.listen(giveUp);

    return void dispatcher.dispatch(request, {
      onRequestStart(given) {
        controller = given;
        phase = 'waiting';
        if (stop.reason) given.abort(stop.reason);
      },
      onResponseStarted() {
        progress.answered = true;
      },
      onResponseStart(given, code, _headers, reason) {
        progress.answered = true;
        if (!isFinalHead(code, reason)) return giveUp(new UpstreamFailure('reset'));
        phase = 'body';
        status = code;
        headers = headersOf(given);
        const declared = Number(headerValue(headers, 'content-length') ?? 0);
        if (declared > limit && request.method !== 'HEAD') giveUp(new UpstreamFailure('too_large'));
      },
      onResponseData(_given, part) {
        length += part.length;
        if (length > limit) giveUp(new UpstreamFailure('too_large'));
        else parts.push(part);
      },
      onResponseEnd() {
        if (request.broken) return fail(new UpstreamFailure('truncated'));
        stop.listen(undefined);
        const [first] = parts;
        resolve({ status, headers, body: parts.length === 1 && first ? first : Buffer.concat(parts, length) });
      },
      onResponseError: (_given, error) => fail(error),
    });
  });
}
