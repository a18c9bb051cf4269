import type { JudgedAnswer } from '../contract/compile/check-response.ts';
import type { Contract } from '../contract/contract.ts';
import { isAdvisory } from '../contract/explain/unknown-field.ts';
import type { PathMatch } from '../contract/paths.ts';
import { oncePerKind } from '../contract/violations.ts';
import { anyIndex } from '../lib/json-pointer.ts';
import type { Arrival } from '../model/arrival.ts';
import type { Checks } from '../model/checks.ts';
import type { Operation } from '../model/operation.ts';
import { createTrace, type Trace } from '../model/trace.ts';
import type { Violation } from '../model/violation.ts';
import type { BodyLook } from './known-bodies.ts';

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

/** The parts of a request and its response that are stored until both contracts have judged them. */
interface ComparedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string | undefined;
  /** The parsed request body. Undefined if no body was judged. */
  body?: { readonly value: unknown };
  /** The upstream's response. Undefined if no response was judged. */
  answer?: JudgedAnswer;
}

/** The two contracts to compare, and the checks of the live contract. */
interface ComparedContracts {
  readonly live: Contract;
  readonly candidate: Contract;
  readonly checksFor: (operationId: string | undefined) => Checks;
  /** The maximum number of violations per message that the live contract collects. */
  readonly maxCollected: number;
}

/**
 * Returns the violations in a request and its response that the candidate would newly refuse or newly accept. Checks
 * that are off are skipped.
 */
function compareContracts(seen: ComparedRequest, contracts: ComparedContracts): Violation[] {
  const { live, candidate, checksFor, maxCollected } = contracts;
  const method = seen.method === 'HEAD' ? 'GET' : seen.method;
  const [now, then] = [live.match(seen.path), candidate.match(seen.path)];
  const [operation, next] = [now?.byMethod.get(method), then?.byMethod.get(method)];
  if (operation === undefined && next === undefined) return [];
  const checks = checksFor(operation?.id);
  if (now === undefined || then === undefined || operation === undefined || next === undefined)
    return checks.undocumented === 'off' ? [] : [pathDifference(operation, next, then)];
  const before = live.decodeParameters(operation, now, seen.query);
  const after = candidate.decodeParameters(next, then, seen.query);
  const differences: Violation[] = [];
  if (checks.requests !== 'off') differences.push(...contractDifferences(before, after));
  if (checks.requests !== 'off' && seen.body !== undefined)
    differences.push(
      ...contractDifferences(
        toldOf(live.judgeRequest(operation, seen.body.value), maxCollected),
        toldOf(candidate.judgeRequest(next, seen.body.value), Number.POSITIVE_INFINITY),
      ),
    );
  if (checks.responses !== 'off' && seen.answer !== undefined) {
    const old = live.checkResponse(operation, before.values, seen.answer);
    differences.push(
      ...contractDifferences(
        { ...old, more: old.violations.length + old.reported.length >= maxCollected },
        candidate.checkResponse(next, after.values, seen.answer),
      ),
    );
  }
  return oncePerKind(differences).slice(0, maxCollected);
}

function toldOf(found: readonly Violation[], maxCollected: number): Told {
  return {
    violations: found.filter((violation) => !isAdvisory(violation)),
    reported: found.filter(isAdvisory),
    more: found.length >= maxCollected,
  };
}

/** Returns the difference for a path or a method that only one of the two contracts has. */
function pathDifference(
  operation: Operation | undefined,
  next: Operation | undefined,
  then: PathMatch | undefined,
): Violation {
  const known = operation ?? next;
  const onlyMethod = operation !== undefined && then !== undefined;
  // Parameter names in braces are replaced, as in reports of undocumented paths.
  const path = known?.path.replaceAll(/\{[^}]*\}/g, '*') ?? '';
  return {
    check: 'undocumented',
    direction: 'request',
    category: 'undocumented',
    location: onlyMethod ? 'method' : 'path',
    at: path,
    keyword: onlyMethod ? 'method' : 'path',
    schemaPath: '',
    message: `only ${operation === undefined ? 'the candidate' : 'the contract in force'} has ${known?.method ?? ''} ${path}`,
    candidate: operation === undefined ? 'newly-accepted' : 'newly-refused',
  };
}

/** The violations that one contract finds in a message. */
interface Told {
  /** Violations that would be refused if the check were enforced. */
  readonly violations: readonly Violation[];
  /** Violations that are only counted. */
  readonly reported: readonly Violation[];
  /** True if there were more violations than were collected. */
  readonly more?: boolean;
}

/**
 * Returns the violations in a message that the candidate would newly refuse or report, and those that it would newly
 * accept.
 */
export function contractDifferences(live: Told, candidate: Told): Violation[] {
  return [
    // A violation that was not collected is not necessarily missing.
    ...(live.more === true ? [] : beyond(candidate, live, 'newly-refused')),
    ...(candidate.more === true ? [] : beyond(live, candidate, 'newly-accepted')),
  ];
}

/** Returns the violations of the first contract that are absent from the second, or less severe there. */
function beyond(first: Told, second: Told, difference: 'newly-refused' | 'newly-accepted'): Violation[] {
  const refused = new Set(second.violations.map(keyOf));
  const told = new Set([...refused, ...second.reported.map(keyOf)]);
  return [
    ...first.violations.filter((violation) => !refused.has(keyOf(violation))),
    ...first.reported.filter((violation) => !told.has(keyOf(violation))),
  ].map((violation) => Object.assign({ ...violation }, { candidate: difference }));
}

// The schema path is not part of the key, because a schema that moved has the same meaning. The item index is not part
// of it either, because a message is judged as a whole.
const keyOf = ({ location, at, keyword }: Violation) => `${location} ${keyword} ${anyIndex(at)}`;
