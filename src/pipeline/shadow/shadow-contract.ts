import type { Arrival } from '../../model/arrival.ts';
import { createTrace, type Trace } from '../../model/trace.ts';
import type { ComparedContracts, ComparedRequest } from './compare-contracts.ts';
import { compareContracts } from './compare-contracts.ts';
import type { BodyLook } from '../known-bodies.ts';

/** Lets a candidate contract judge real traffic, after the answers are sent; it only reports. */
export interface ShadowContract {
  /** A request that the contract in force judges now. */
  arrived(trace: Trace, arrival: Pick<Arrival, 'method' | 'path' | 'query'>): void;
  /** The parsed body of a request that has arrived, and its size. */
  body(trace: Trace, value: unknown, bytes: number): void;
  /** The upstream's answer; `json` is undefined for a body that is none. */
  answered(trace: Trace, arrival: Pick<Arrival, 'method' | 'path' | 'query'>, look: BodyLook, json: unknown): void;
  /** A finished request: what was seen of it is judged when there is time. */
  recorded(trace: Trace): void;
  /** How many finished requests were not judged, because too much was waiting. */
  dropped(): number;
}

/** What the watch works with. */
export interface ShadowContractParts extends ComparedContracts {
  /** Takes in the differences of one request, as a trace that no client waits for. */
  readonly found: (trace: Trace, request: Trace) => void;
  /** Does something once what is urgent is done. */
  readonly later: (work: () => void) => void;
}

/** Requests that wait to be judged, and the bytes of their bodies. */
const MAX_WAITING = 256;
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** Creates the watch. Nothing of a request is kept beyond its judgement, and of too many nothing at all. */
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
      // Whatever is wrong with the candidate must not reach those who work without it.
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
      // A page from memory was judged when it came.
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
