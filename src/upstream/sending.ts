import { Readable } from 'node:stream';
import { errors, type Dispatcher } from 'undici';
import type { HeaderPairs } from '../model/header-pairs.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import { endToEnd, toHeaderPairs } from './hop-by-hop.ts';
import { toTransportFailure, type ExchangePhase } from './transport-failure.ts';

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
export function answerHeaders(controller: Dispatcher.DispatchController): HeaderPairs {
  return Array.isArray(controller.rawHeaders) ? endToEnd(toHeaderPairs(controller.rawHeaders)) : [];
}
