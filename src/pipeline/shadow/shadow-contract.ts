import type { Arrival } from '../../model/arrival.ts';
import { createTrace, type Trace } from '../../model/trace.ts';
import type { ComparedContracts, ComparedRequest } from './compare-contracts.ts';
import { compareContracts } from './compare-contracts.ts';
import type { BodyLook } from '../known-bodies.ts';

/** A candidate contract that judges real traffic after the responses are sent. It only reports. */
export interface ShadowContract {
  /** Receives a request that the live contract is about to judge. */
  arrived(trace: Trace, arrival: Pick<Arrival, 'method' | 'path' | 'query'>): void;
  /** Receives the parsed body of a request that has arrived, and its size in bytes. */
  body(trace: Trace, value: unknown, bytes: number): void;
  /** Receives the upstream's response. `json` is undefined if the body is not JSON. */
  answered(trace: Trace, arrival: Pick<Arrival, 'method' | 'path' | 'query'>, look: BodyLook, json: unknown): void;
  /** Receives a finished request. The stored data is judged later, when the process is less busy. */
  recorded(trace: Trace): void;
  /** Returns the number of finished requests that were not judged because too many were waiting. */
  dropped(): number;
}

/** Parts of a shadow contract. */
export interface ShadowContractParts extends ComparedContracts {
  /** Records the differences found in one request, as the trace of background work. */
  readonly found: (trace: Trace, request: Trace) => void;
  /** Runs a function once after urgent work is done. */
  readonly later: (work: () => void) => void;
}

/** The maximum number of requests waiting to be judged, followed by the limit for their bodies in bytes. */
const MAX_WAITING = 256;
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/**
 * Creates the shadow contract. Data about a request is discarded once it is judged, and excess requests are not stored.
 */
export function createShadowContract(parts: ShadowContractParts): ShadowContract {
  const seen = new WeakMap<Trace, ComparedRequest & { bytes: number }>();
  const waiting: { readonly trace: Trace; readonly sighting: ComparedRequest & { bytes: number } }[] = [];
  let bytes = 0;
  let dropped = 0;
  let working = false;

  const sightingOf = (trace: Trace, { method, path, query }: Pick<Arrival, 'method' | 'path' | 'query'>) => {
    const sighting = seen.get(trace) ?? { method, path, query, bytes: 0 };
    seen.set(trace, sighting);
    return sighting;
  };
  const work = () => {
    const next = waiting.shift();
    working = next !== undefined;
    if (next === undefined) return;
    bytes -= next.sighting.bytes;
    try {
      judge(next.trace, next.sighting);
    } catch {
      // Errors in the candidate must not affect live traffic.
      dropped += 1;
    }
    parts.later(work);
  };
  const judge = (request: Trace, sighting: ComparedRequest) => {
    const violations = compareContracts(sighting, parts);
    if (violations.length === 0) return;
    const trace = createTrace(request);
    trace.violations.push(...violations);
    trace.operation = request.operation;
    trace.caller = request.caller;
    trace.background = true;
    parts.found(trace, request);
  };

  return {
    arrived: (trace, arrival) => void sightingOf(trace, arrival),
    body: (trace, value, size) => {
      const sighting = seen.get(trace);
      if (sighting === undefined) return;
      sighting.body = { value };
      sighting.bytes += size;
    },
    answered: (trace, arrival, { status, mediaType, bytes: body }, json) => {
      const sighting = sightingOf(trace, arrival);
      sighting.answer = { status, mediaType, isEmpty: body.length === 0, json };
      sighting.bytes += body.length;
    },
    recorded: (trace) => {
      const sighting = seen.get(trace);
      // A cached page was judged when it was fetched.
      const status = trace.cache?.status;
      const kept = status === 'hit' || (status === 'stale' && sighting?.answer === undefined);
      if (sighting === undefined || kept) return;
      seen.delete(trace);
      if (waiting.length >= MAX_WAITING || bytes + sighting.bytes > MAX_WAITING_BYTES) {
        dropped += 1;
        return;
      }
      waiting.push({ trace, sighting });
      bytes += sighting.bytes;
      if (working) return;
      working = true;
      parts.later(work);
    },
    dropped: () => dropped,
  };
}
