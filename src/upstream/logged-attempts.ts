import type { Clock } from '../lib/clock.ts';
import type { AttemptLog } from '../model/trace.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import type { RequestSender, SendProgress, WireRequest } from './sending.ts';

/** Sends a request once, through the given dispatcher. */
export type SendOnce<T> = (dispatcher: RequestSender, wire: WireRequest, progress: SendProgress) => Promise<T>;

/** Returns a function that sends a request like `once` and records it. Each attempt has its own `traceparent`. */
export function logged<T>(once: SendOnce<T>, log: AttemptLog, clock: Clock): SendOnce<T> {
  return async (dispatcher, wire, progress) => {
    const traceparent = log.next();
    nameSpan(wire.headers as string[], traceparent);
    const startedAt = clock();
    const ended = (failure: string | undefined) =>
      log.attempts.push({ startedAt, endedAt: clock(), traceparent, address: wire.sentTo, failure });
    try {
      const sent = await once(dispatcher, wire, progress);
      ended(undefined);
      return sent;
    } catch (error) {
      ended(error instanceof UpstreamFailure ? (error.facts?.cause ?? error.kind) : 'other');
      throw error;
    }
  };
}

/** Sets `traceparent` in a list of alternating names and values. Portico adds this header last. */
function nameSpan(headers: string[], traceparent: string): void {
  for (let index = headers.length - 2; index >= 0; index -= 2) {
    if (headers[index] !== 'traceparent') continue;
    headers[index + 1] = traceparent;
    return;
  }
}
