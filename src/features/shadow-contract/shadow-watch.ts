import type { ResponseToCheck } from '../../engine/contract/compile/check-response.ts';
import type { Contract } from '../../engine/contract/load-contract.ts';
import type { PathMatch } from '../../engine/contract/paths.ts';
import { oncePerKind } from '../../engine/contract/violations.ts';
import { anyIndex } from '../../lib/json-pointer.ts';
import type { Arrival } from '../../engine/model/arrival.ts';
import type { Checks } from '../../engine/model/checks.ts';
import type { Operation } from '../../engine/model/operation.ts';
import type { Trace } from '../../engine/model/trace.ts';
import { isAdvisory, type Violation } from '../../engine/model/violation.ts';
import type { DecodedResponse } from '../../engine/pipeline/decoded-response.ts';

/**
 * Checks traffic against a second contract. Its only effect is that differences are reported after the response has been
 * sent.
 */
export interface ShadowWatch {
  /** Records a request before the live contract checks it. */
  requestReceived(trace: Trace, arrival: Pick<Arrival, 'method' | 'path' | 'query'>): void;
  /** Records the parsed body of a request and its size in bytes. */
  body(trace: Trace, value: unknown, bytes: number): void;
  /** Records the upstream's response. `json` is undefined if the body is not JSON. */
  responseReceived(
    trace: Trace,
    arrival: Pick<Arrival, 'method' | 'path' | 'query'>,
    look: DecodedResponse,
    json: unknown,
  ): void;
  /** Marks a request as finished. It is compared later, when the process is less busy. */
  requestFinished(trace: Trace): void;
}

/** The contracts, and what the watch reports. */
export interface ShadowWatchParts extends ComparedContracts {
  /** Records the differences found in one request. */
  readonly found: (request: Trace, differences: readonly Violation[]) => void;
  /** Called for each request that is not compared, because too many are waiting or the comparison fails. */
  readonly dropped: () => void;
  /** Runs a function when no more urgent work is waiting. */
  readonly later: (work: () => void) => void;
}

/** The maximum number of requests waiting to be compared, and the maximum total size, in bytes, of their bodies. */
const MAX_WAITING = 256;
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/**
 * Creates the watch. Each request's data is discarded after the comparison. While too many requests are
 * waiting, new requests are ignored.
 */
export function createShadowWatch(parts: ShadowWatchParts): ShadowWatch {
  const seen = new WeakMap<Trace, ComparedRequest & { bytes: number }>();
  const waiting: { readonly trace: Trace; readonly record: ComparedRequest & { bytes: number } }[] = [];
  let bytes = 0;
  let working = false;

  const recordOf = (trace: Trace, { method, path, query }: Pick<Arrival, 'method' | 'path' | 'query'>) => {
    const record = seen.get(trace) ?? { method, path, query, bytes: 0 };
    seen.set(trace, record);
    return record;
  };
  const work = () => {
    const next = waiting.shift();
    working = next !== undefined;
    if (next === undefined) return;
    bytes -= next.record.bytes;
    try {
      compare(next.trace, next.record);
    } catch {
      // An error in the shadow contract must not affect live traffic.
      parts.dropped();
    }
    parts.later(work);
  };
  const compare = (request: Trace, record: ComparedRequest) => {
    const violations = compareContracts(record, parts);
    if (violations.length > 0) parts.found(request, violations);
  };

  return {
    requestReceived: (trace, arrival) => void recordOf(trace, arrival),
    body: (trace, value, size) => {
      const record = seen.get(trace);
      if (record === undefined) return;
      record.body = { value };
      record.bytes += size;
    },
    responseReceived: (trace, arrival, { status, mediaType, bytes: body }, json) => {
      const record = recordOf(trace, arrival);
      record.response = { status, mediaType, isEmpty: body.length === 0, json };
      record.bytes += body.length;
    },
    requestFinished: (trace) => {
      const record = seen.get(trace);
      // A cached page was already compared when it was fetched.
      const status = trace.cache?.status;
      const isFromCache = status === 'hit' || (status === 'stale' && record?.response === undefined);
      if (record === undefined || isFromCache) return;
      seen.delete(trace);
      if (waiting.length >= MAX_WAITING || bytes + record.bytes > MAX_WAITING_BYTES) {
        parts.dropped();
        return;
      }
      waiting.push({ trace, record });
      bytes += record.bytes;
      if (working) return;
      working = true;
      parts.later(work);
    },
  };
}

/** The parts of a request and its response that are stored for the comparison. */
interface ComparedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string | undefined;
  /** The parsed request body. Undefined if there was no body to check. */
  body?: { readonly value: unknown };
  /** The upstream's response. Undefined if there was no response to check. */
  response?: ResponseToCheck;
}

/** The two contracts to compare, and the check levels of the live contract. */
interface ComparedContracts {
  readonly live: Contract;
  readonly shadow: Contract;
  readonly checksFor: (operationId: string | undefined) => Checks;
  /** The maximum number of violations to collect per message for the live contract. */
  readonly maxCollected: number;
}

/**
 * Returns the violations in a request and its response that the shadow contract would newly refuse or newly accept.
 * Checks that are off are ignored.
 */
function compareContracts(seen: ComparedRequest, contracts: ComparedContracts): Violation[] {
  const { live, shadow, checksFor, maxCollected } = contracts;
  const method = seen.method === 'HEAD' ? 'GET' : seen.method;
  const [now, then] = [live.match(seen.path), shadow.match(seen.path)];
  const [operation, next] = [now?.byMethod.get(method), then?.byMethod.get(method)];
  if (operation === undefined && next === undefined) return [];
  const checks = checksFor(operation?.id);
  if (now === undefined || then === undefined || operation === undefined || next === undefined)
    return checks.undocumented === 'off' ? [] : [pathDifference(operation, next, then)];
  const before = live.decodeParameters(operation, now, seen.query);
  const after = shadow.decodeParameters(next, then, seen.query);
  const differences: Violation[] = [];
  if (checks.requests !== 'off') differences.push(...contractDifferences(before, after));
  if (checks.requests !== 'off' && seen.body !== undefined)
    differences.push(
      ...contractDifferences(
        collectedViolations(live.checkRequest(operation, seen.body.value), maxCollected),
        collectedViolations(shadow.checkRequest(next, seen.body.value), Number.POSITIVE_INFINITY),
      ),
    );
  if (checks.responses !== 'off' && seen.response !== undefined) {
    const old = live.checkResponse(operation, before.values, seen.response);
    differences.push(
      ...contractDifferences(
        { ...old, more: old.violations.length + old.reported.length >= maxCollected },
        shadow.checkResponse(next, after.values, seen.response),
      ),
    );
  }
  return oncePerKind(differences).slice(0, maxCollected);
}

function collectedViolations(found: readonly Violation[], maxCollected: number): CollectedViolations {
  return {
    violations: found.filter((violation) => !isAdvisory(violation)),
    reported: found.filter(isAdvisory),
    more: found.length >= maxCollected,
  };
}

/** Returns the difference to report for a path or method that is in only one of the two contracts. */
function pathDifference(
  operation: Operation | undefined,
  next: Operation | undefined,
  then: PathMatch | undefined,
): Violation {
  const known = operation ?? next;
  const onlyMethod = operation !== undefined && then !== undefined;
  // In reports, `*` replaces parameters in undocumented paths, so `*` also replaces the parameter names here.
  const path = known?.path.replaceAll(/\{[^{}]*\}/g, '*') ?? '';
  return {
    check: 'undocumented',
    direction: 'request',
    category: 'not-allowed',
    location: onlyMethod ? 'method' : 'path',
    at: path,
    keyword: onlyMethod ? 'method' : 'path',
    schemaPath: '',
    message: `only ${operation === undefined ? 'the shadow contract' : 'the live contract'} has ${known?.method ?? ''} ${path}`,
    candidate: operation === undefined ? 'newly-accepted' : 'newly-refused',
  };
}

/** The violations that one contract finds in a message. */
interface CollectedViolations {
  /** Violations that cause a refusal if the check is enforced. */
  readonly violations: readonly Violation[];
  /** Violations that are counted but never cause a refusal. */
  readonly reported: readonly Violation[];
  /** True if there were too many violations to collect. */
  readonly more?: boolean;
}

/**
 * Returns the violations in a message that the shadow contract would newly refuse or report, and the violations that it
 * would newly accept.
 */
export function contractDifferences(live: CollectedViolations, shadow: CollectedViolations): Violation[] {
  return [
    // If a message has more violations than were collected, a violation that seems to be missing might simply not have
    // been collected.
    ...(live.more === true ? [] : beyond(shadow, live, 'newly-refused')),
    ...(shadow.more === true ? [] : beyond(live, shadow, 'newly-accepted')),
  ];
}

/**
 * Returns the violations that cause a refusal under the first contract but not under the second, and those that are
 * reported under the first contract but not found at all under the second.
 */
function beyond(
  first: CollectedViolations,
  second: CollectedViolations,
  difference: 'newly-refused' | 'newly-accepted',
): Violation[] {
  const refused = new Set(second.violations.map(keyOf));
  const known = new Set([...refused, ...second.reported.map(keyOf)]);
  return [
    ...first.violations.filter((violation) => !refused.has(keyOf(violation))),
    ...first.reported.filter((violation) => !known.has(keyOf(violation))),
  ].map((violation) => Object.assign({ ...violation }, { candidate: difference }));
}

// The key omits the schema path, because moving a schema does not change what it means. It also omits item indices,
// because a message is compared as a whole.
const keyOf = ({ location, at, keyword }: Violation) => `${location} ${keyword} ${anyIndex(at)}`;
