import { Readable } from 'node:stream';
import { type Dispatcher, errors } from 'undici';
import type { HeaderPairs } from '../model/header-pairs.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import { endToEnd, toHeaderPairs } from './hop-by-hop.ts';
import { type ExchangePhase, toTransportFailure } from './transport-failure.ts';

/** A request as undici writes it. */
export interface WireRequest extends Dispatcher.DispatchOptions {
  /** Set by the connection when it had carried another request before. */
  reused?: boolean;
  /**
   * Set by the connection when its socket failed while it carried this request. undici takes the reset of a body without a
   * length for its end, so whoever is told that the body has ended looks at this first.
   */
  broken?: boolean;
}

/** How far the answer had come when the promise was rejected. */
export interface SendProgress {
  /** True once a byte of the answer has come. */
  answered: boolean;
}

/** What a sending is rejected with: an `UpstreamFailure`, or undici's error for a request that cannot be written. */
export function sendingFailure(error: unknown, request: WireRequest, phase: ExchangePhase): Error {
  if (error instanceof errors.InvalidArgumentError) return error;
  const isOurs = request.body instanceof Readable && request.body.errored === error;
  return isOurs ? new UpstreamFailure('aborted', { cause: error }) : toTransportFailure(error, phase);
}

/** The end-to-end fields of the answer that has just begun. */
export function headersOf(controller: Dispatcher.DispatchController): HeaderPairs {
  return Array.isArray(controller.rawHeaders) ? endToEnd(toHeaderPairs(controller.rawHeaders)) : [];
}

// RFC 9112 §4: a reason phrase has spaces, tabs and visible characters.
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\0-\u0008\u000a-\u001f\u007f]/;

/**
 * Whether a final response has a status and a reason phrase that HTTP allows (RFC 9110 §15, RFC 9112 §4). A response that has
 * not is malformed: it cannot be passed on in any mode.
 */
export function isFinalHead(status: number | undefined, reason: string | undefined): boolean {
  return status !== undefined && status >= 200 && status <= 599 && (reason === undefined || !CONTROL.test(reason));
}

/** Ends one exchange before its answer is whole; an AbortController that costs next to nothing. */
export interface Stop {
  /** Why it was ended; undefined while it may go on. */
  readonly reason: UpstreamFailure | undefined;
  /** Ends it; only the first reason counts. */
  stop(reason: UpstreamFailure): void;
  /** Calls back once when it is ended later; whoever calls this looks at `reason` first. Undefined calls nobody any more. */
  listen(onStop: ((reason: UpstreamFailure) => void) | undefined): void;
}

/** Makes a stop for one exchange; the sendings of the exchange listen to it one after another. */
export function createStop(): Stop {
  let given: UpstreamFailure | undefined;
  let listener: ((reason: UpstreamFailure) => void) | undefined;
  return {
    get reason() {
      return given;
    },
    stop(reason) {
      if (given) return;
      given = reason;
      listener?.(reason);
    },
    listen(onStop) {
      listener = onStop;
    },
  };
}
