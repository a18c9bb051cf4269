import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayError } from '../errors/gateway-error.ts';
import type { Operation } from '../model/operation.ts';
import type { Trace } from '../model/trace.ts';
import { firstRequests, missingIds, type WalkRequest } from './first-requests.ts';
import { createKnownIds } from './known-ids.ts';
import { sendWalkRequest, type WalkObserver, type WalkOutcome } from './send-walk-request.ts';
import { variationsOf } from './variations.ts';
import { createWalkTally, type WalkSummary, type WalkTally } from './walk-tally.ts';
import type { WalkedHouse } from './walked-gateway.ts';

/** How a walk goes. */
export interface WalkOptions {
  /** The value of `Authorization`; undefined for anonymous. */
  readonly authorization: string | undefined;
  /** The most requests that are sent, repeated ones included; the very last may be repeated. */
  readonly maxRequests: number;
  /** The pause between an answer and the next request. */
  readonly delayMs: number;
  /** Ids that are known before, by path parameter. */
  readonly ids: ReadonlyMap<string, readonly string[]>;
  /** Ends the walk with what was found so far. */
  readonly signal: AbortSignal;
  /** Takes in the complete trace of every request that was sent. */
  readonly record: (trace: Trace) => void;
  /** Hears of every request before it is sent; `left` are those that wait. */
  readonly onProgress?: (progress: {
    readonly sent: number;
    readonly left: number;
    readonly operation: string;
  }) => void;
  /** Waits; the machine's timers unless a test brings its own. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** After how many failures in a row the upstream counts as gone. */
const MAX_FAILURES = 5;

/** Asks the upstream for everything that the contract documents as safe, one request at a time, and shows every answer to `observe`. */
export async function walk(house: WalkedHouse, options: WalkOptions, observe: WalkObserver): Promise<WalkSummary> {
  const { signal, maxRequests, pause = pauseFor } = options;
  const operations = house.operations.filter(({ method }) => method === 'GET');
  const ids = createKnownIds(options.ids);
  const queue = createRequestQueue();
  const tally = createWalkTally();
  const varied = new Set<string>();
  // What failed before anything was answered may be the upstream's absence, which is no difference from the contract.
  const held: Trace[] = [];
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
    const { answer } = outcome;
    observe(answer);
    if (answer.status !== 200 || answer.text === undefined) return;
    if (ids.learn(answer.text)) plan();
    // Only the first resource that answers is seen from all sides; of the others the plain answer is enough.
    if (request.query !== '' || varied.has(operation.id)) return;
    varied.add(operation.id);
    for (const { query, rank } of variationsOf(operation, answer.json))
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
    const outcome = await sendWalkRequest(house, operation, target, options);
    // What was cut off by the signal tells nothing about the upstream.
    if (signal.aborted && outcome.kind === 'failure') return summary('signal');
    tally.add(id, outcome);
    held.push(withoutOwnFaults(outcome.trace));
    if (tally.answered() > 0) held.splice(0).forEach(options.record);
    take(operation, request, outcome);
    if (outcome.kind === 'failure') failure = failureWords(outcome.error);
    if (outcome.kind === 'failure' && isGone(tally, outcome.error)) return summary('unreachable', failure);
    if (tally.spent() >= maxRequests && queue.size() > 0) return summary('max-requests');
  }
  return tally.answered() === 0 ? summary('unreachable', failure) : summary('complete');
}

function isGone(tally: WalkTally, error: GatewayError): boolean {
  return (tally.answered() === 0 && error.code === 'upstream_refused') || tally.failuresInARow() >= MAX_FAILURES;
}

async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** Codes of OpenSSL, as Node names them, for a certificate that is not trusted. */
const UNTRUSTED = /CERT|^UNABLE_TO_(?:GET|VERIFY)|^HOSTNAME_MISMATCH$/;
const NO_TLS = /^(?:EPROTO|ERR_SSL_)/;

/** Why no answer came, with what the machine calls it: `The upstream cannot be reached (ECONNREFUSED).` */
export function failureWords(error: GatewayError): string {
  // Only a connection that was never made has a reason of its own.
  const code = error.code === 'upstream_refused' ? codeOf(error) : undefined;
  if (code === undefined) return error.message;
  if (UNTRUSTED.test(code))
    return `Its certificate is not trusted (${code}); NODE_EXTRA_CA_CERTS=FILE adds an authority of your own.`;
  if (NO_TLS.test(code)) return `It does not speak TLS as expected (${code}).`;
  return `${error.message.replace(/\.$/, '')} (${code}).`;
}

/** The first code of a system or of TLS among the causes; codes of the HTTP client say no more than the message. */
function codeOf(error: unknown): string | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 6; cause = cause.cause, depth += 1) {
    if (!('code' in cause) || typeof cause.code !== 'string' || depth === 0) continue;
    if (/^[A-Z][A-Z0-9_]{1,60}$/.test(cause.code) && !cause.code.startsWith('UND_')) return cause.code;
  }
  return undefined;
}

/**
 * The trace of a walk's request without what only tells about the request itself: a walk asks for things on purpose that
 * its caller may not see or that do not exist, and that is no difference between the upstream and the contract.
 */
export function withoutOwnFaults(trace: Trace): Trace {
  return {
    ...trace,
    requests: settled(trace.requests),
    pageBounds: settled(trace.pageBounds),
    permissions: settled(trace.permissions),
    violations: trace.violations.filter(
      ({ direction, category }) => direction === 'response' || category === 'permission-mismatch',
    ),
  };
}

/** A verdict on what the walk itself asked for is none that a level could be judged by. */
function settled<Verdict extends { readonly outcome: string }>(verdict: Verdict | undefined) {
  return verdict?.outcome === 'reported' ? { ...verdict, outcome: 'skipped' as const, reason: 'walk' } : verdict;
}

/** Requests that are still to be sent, each target once. */
export interface RequestQueue {
  add(request: WalkRequest): void;
  /** The next one: of the lowest rank, and in that the first added; undefined when none is left. */
  next(): WalkRequest | undefined;
  /** How many are left. */
  size(): number;
}

/** Creates an empty queue. */
export function createRequestQueue(): RequestQueue {
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
