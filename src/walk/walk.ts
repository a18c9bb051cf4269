import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayError } from '../errors/gateway-error.ts';
import type { Operation } from '../model/operation.ts';
import type { Trace } from '../model/trace.ts';
import { failureWords } from './failure-words.ts';
import { firstRequests, missingIds } from './first-requests.ts';
import { createKnownIds } from './known-ids.ts';
import { withoutOwnFaults } from './own-requests.ts';
import { createRequestQueue } from './request-queue.ts';
import { sendWalkRequest, type WalkOutcome } from './send-walk-request.ts';
import { variationsOf } from './variations.ts';
import type { WalkRequest } from './walk-request.ts';
import type { WalkSummary } from './walk-summary.ts';
import { createWalkTally, type WalkTally } from './walk-tally.ts';
import type { WalkObserver } from './walked-answer.ts';
import type { WalkedHouse } from './walked-house.ts';

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
