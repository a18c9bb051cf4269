import type { GatewayError } from '../../engine/errors/gateway-error.ts';
import { CHECK_NAMES, CHECKS } from '../../engine/model/checks.ts';
import type { Operation } from '../../engine/model/operation.ts';
import type { Trace } from '../../engine/model/trace.ts';
import { pauseFor } from '../../lib/pause.ts';
import { failureHint } from '../../engine/model/failure-hints.ts';
import { UpstreamFailure } from '../../engine/model/upstream-failure.ts';
import { createKnownIds, firstRequests, missingIds, type WalkRequest } from './walk-requests.ts';
import { sendWalkRequest, type WalkedGateway, type WalkObserver, type WalkOutcome } from './send-walk-request.ts';

/** Options for a walk. */
export interface WalkOptions {
  /** The value of `Authorization`. Undefined for an anonymous walk. */
  readonly authorization: string | undefined;
  /**
   * The maximum number of requests, including repeated requests. It can be exceeded only if the last request is
   * repeated.
   */
  readonly maxRequests: number;
  /** The pause between a response and the next request, in milliseconds. */
  readonly delayMs: number;
  /** Ids known in advance, keyed by path parameter. */
  readonly ids: ReadonlyMap<string, readonly string[]>;
  /** A signal that ends the walk when it fires. The walk then returns the results so far. */
  readonly signal: AbortSignal;
  /** Receives the complete trace of every request. */
  readonly record: (trace: Trace) => void;
  /** Called before every request. `left` is the number of requests still queued. */
  readonly onProgress?: (progress: {
    readonly sent: number;
    readonly left: number;
    readonly operation: string;
  }) => void;
  /** Waits for the given time. Tests can replace this function. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** An operation that could not be requested in a walk, and the reason. */
interface NotWalked {
  readonly operation: string;
  /**
   * The path parameters for which no id was found. Empty if the walk reached its maximum number of requests before
   * this operation.
   */
  readonly missing: readonly string[];
}

/** The requests to one operation during a walk. */
interface WalkedOperation {
  readonly operation: string;
  readonly requests: number;
  /** The number of responses by status. Status 0 represents a missing response. */
  readonly statuses: ReadonlyMap<number, number>;
}

/** The result of a walk. */
export interface WalkSummary {
  readonly requests: number;
  readonly walked: readonly WalkedOperation[];
  readonly notWalked: readonly NotWalked[];
  /** The reason why the walk ended: all requests sent, maximum reached, signal received, or upstream unreachable. */
  readonly ended: 'complete' | 'max-requests' | 'signal' | 'unreachable';
  /** The text of the last failure. Undefined unless the walk ended as `unreachable`. */
  readonly failure: string | undefined;
  /** The number of planned requests that were not sent. */
  readonly left: number;
}

/** The number of consecutive failures after which the upstream is considered unreachable. */
const MAX_FAILURES = 5;

/**
 * Calls all safe operations in the contract on the upstream, one at a time, and passes every response to `observe`.
 */
export async function walk(gateway: WalkedGateway, options: WalkOptions, observe: WalkObserver): Promise<WalkSummary> {
  const { signal, maxRequests, pause = pauseFor } = options;
  const operations = gateway.operations.filter(({ method }) => method === 'GET');
  const ids = createKnownIds(options.ids, gateway.exploration);
  const queue = createRequestQueue();
  const tally = createWalkTally();
  const varied = new Set<string>();
  // Failures before the first response are recorded only after a response has been received. Until then, the failures
  // may mean that the upstream is down, which is not a contract violation.
  const unrecorded: Trace[] = [];
  const plan = () => operations.flatMap((operation) => firstRequests(operation, ids)).forEach(queue.add);
  const summary = (ended: WalkSummary['ended'], message?: string): WalkSummary => ({
    ...tally.totals(),
    notWalked: operations
      .filter(({ id }) => tally.requestsOf(id) === 0)
      .map((operation) => ({ operation: operation.id, missing: missingIds(operation, ids) })),
    ended,
    failure: message,
    left: queue.size(),
  });

  const take = (operation: Operation, request: WalkRequest, outcome: WalkOutcome): void => {
    if (outcome.kind === 'failure') return;
    const { response } = outcome;
    observe(response);
    if (response.status !== 200 || response.text === undefined) return;
    if (ids.learn(response.text)) plan();
    // Only the first resource of an operation is requested in all variations. For the other resources, the plain
    // request is sufficient.
    if (request.query !== '' || varied.has(operation.id)) return;
    varied.add(operation.id);
    for (const { query, rank } of gateway.exploration.variationsOf(operation, response.json))
      queue.add({ operation: operation.id, target: `${request.target}?${query}`, query, rank });
  };

  let failure: string | undefined;
  plan();
  for (let request = queue.next(); request !== undefined; request = queue.next()) {
    const { operation: id, target } = request;
    const operation = operations.find((one) => one.id === id);
    if (operation === undefined) continue;
    if (tally.sent() > 0) await pause(options.delayMs, signal);
    if (signal.aborted) return summary('signal');
    options.onProgress?.({ sent: tally.sent() + 1, left: queue.size(), operation: id });
    const outcome = await sendWalkRequest(gateway, operation, target, options);
    // A request that was canceled by the signal says nothing about the upstream.
    if (signal.aborted && outcome.kind === 'failure') return summary('signal');
    tally.add(id, outcome);
    unrecorded.push(withoutOwnFaults(outcome.trace));
    if (tally.responses() > 0) unrecorded.splice(0).forEach(options.record);
    take(operation, request, outcome);
    if (outcome.kind === 'failure') failure = failureWords(outcome.error);
    if (outcome.kind === 'failure' && isGone(tally, outcome.error)) return summary('unreachable', failure);
    if (tally.spent() >= maxRequests && queue.size() > 0) return summary('max-requests');
  }
  return tally.responses() === 0 ? summary('unreachable', failure) : summary('complete');
}

function isGone(tally: ReturnType<typeof createWalkTally>, error: GatewayError): boolean {
  return (tally.responses() === 0 && error.code === 'upstream_refused') || tally.consecutiveFailures() >= MAX_FAILURES;
}

/** Describes why there was no response: with the likely reason, if the connection could not be established. */
export function failureWords({ code, message, cause }: GatewayError): string {
  // A more specific reason is available only if the connection could not be established.
  const facts = code === 'upstream_refused' && cause instanceof UpstreamFailure ? cause.facts : undefined;
  return facts?.code === undefined ? message.replace(/^The/, 'the').replace(/\.$/, '') : failureHint(facts);
}

/**
 * Returns the trace of a walk request without the findings about the request itself. Those about the server and about the
 * walk's account remain. A walk deliberately requests
 * resources that do not exist or that its caller may not see, so these findings are not differences between the
 * upstream and the contract.
 */
function withoutOwnFaults(trace: Trace): Trace {
  const own = CHECK_NAMES.filter((check) => CHECKS[check].judges === 'request');
  return {
    ...trace,
    ...Object.fromEntries(own.map((check) => [check, asSkipped(trace[check])])),
    violations: trace.violations.filter(
      ({ direction, category }) => direction === 'response' || category === 'permission-mismatch',
    ),
  };
}

/** Marks a verdict on the walk's own request as skipped, so that the verdict does not affect decisions about levels. */
function asSkipped<Verdict extends { readonly outcome: string }>(verdict: Verdict | undefined) {
  return verdict?.outcome === 'reported' ? { ...verdict, outcome: 'skipped' as const, reason: 'walk' } : verdict;
}

/** The requests that have not been sent yet, without duplicate targets. */
interface RequestQueue {
  add(request: WalkRequest): void;
  /**
   * Removes and returns the request with the lowest rank. If several have this rank, the oldest is chosen. Returns
   * undefined if the queue is empty.
   */
  next(): WalkRequest | undefined;
  /** The number of queued requests. */
  size(): number;
}

function createRequestQueue(): RequestQueue {
  const waiting: WalkRequest[] = [];
  const known = new Set<string>();
  return {
    add: (request) => {
      if (known.has(request.target)) return;
      known.add(request.target);
      const at = waiting.findIndex(({ rank }) => rank > request.rank);
      waiting.splice(at < 0 ? waiting.length : at, 0, request);
    },
    next: () => waiting.shift(),
    size: () => waiting.length,
  };
}

/** Counts the requests and responses of a walk. */
function createWalkTally() {
  const operations = new Map<string, { requests: number; readonly statuses: Map<number, number> }>();
  let sent = 0;
  let spent = 0;
  let responses = 0;
  let failures = 0;
  return {
    add: (operation: string, outcome: WalkOutcome): void => {
      const counts = operations.get(operation) ?? { requests: 0, statuses: new Map<number, number>() };
      const status = outcome.trace.upstream?.status ?? 0;
      counts.requests += 1;
      counts.statuses.set(status, (counts.statuses.get(status) ?? 0) + 1);
      operations.set(operation, counts);
      sent += 1;
      spent += attemptsOf(outcome);
      if (status > 0) responses += 1;
      failures = status > 0 ? 0 : failures + 1;
    },
    sent: () => sent,
    /** The number of requests received by the upstream, including retries on a new connection. */
    spent: () => spent,
    /** The number of requests to which the upstream responded. */
    responses: () => responses,
    consecutiveFailures: () => failures,
    requestsOf: (operation: string) => operations.get(operation)?.requests ?? 0,
    totals: (): Pick<WalkSummary, 'requests' | 'walked'> => ({
      requests: sent,
      walked: [...operations].map(([operation, { requests, statuses }]) => ({ operation, requests, statuses })),
    }),
  };
}

/**
 * Returns the maximum number of attempts that one result can represent. For example, two connection resets are reported
 * as a single failure.
 */
function attemptsOf({ trace: { upstream } }: WalkOutcome): number {
  return upstream?.shape === 'reset' ? 2 : (upstream?.attempts ?? 1);
}
