import type { Dispatcher } from 'undici';
import type { HeaderPairs } from '../model/header-pairs.ts';
import { StreamedBody } from '../model/streamed-body.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import {
  readHead,
  type RequestSender,
  sendingFailure,
  type SendProgress,
  type Stop,
  type WireRequest,
} from './sending.ts';
import { toTransportFailure, type ExchangePhase } from './failures/transport-failure.ts';

/** The head of a response, with a body that is still being received. */
export interface StreamedResponse {
  readonly status: number;
  /** The reason phrase. Each character represents one byte. */
  readonly reason: string;
  /** End-to-end headers only. */
  readonly headers: HeaderPairs;
  /** Ends when the body is complete, or fails with an `UpstreamFailure` if the body is incomplete. */
  readonly body: StreamedBody;
}

/** The limits for sending one request. */
interface SendBounds {
  /** Stops the exchange. The reason for stopping becomes the exchange's error. */
  readonly stop: Stop;
  /** The longest time that the reader of the body may pause, in milliseconds. */
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
        const head = readHead({ method: request.method, status, reason, rawHeaders: given.rawHeaders });
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
