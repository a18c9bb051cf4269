import type { WalkOutcome } from './send-walk-request.ts';

/** Counts what a walk does. */
export interface WalkTally {
  add(operation: string, outcome: WalkOutcome): void;
  sent(): number;
  /** Requests as the upstream counts them: what a kept connection lost was sent twice. */
  spent(): number;
  /** How many requests got an answer of the upstream. */
  answered(): number;
  failuresInARow(): number;
  requestsOf(operation: string): number;
  totals(): Pick<WalkSummary, 'requests' | 'walked'>;
}

/** Creates a tally of nothing. */
export function createWalkTally(): WalkTally {
  const operations = new Map<string, { requests: number; readonly statuses: Map<number, number> }>();
  let sent = 0;
  let spent = 0;
  let answered = 0;
  let failures = 0;
  return {
    add: (operation, outcome) => {
      const counts = operations.get(operation) ?? { requests: 0, statuses: new Map<number, number>() };
      const status = outcome.trace.upstream?.status ?? 0;
      counts.requests += 1;
      counts.statuses.set(status, (counts.statuses.get(status) ?? 0) + 1);
      operations.set(operation, counts);
      sent += 1;
      spent += attemptsOf(outcome);
      if (status > 0) answered += 1;
      failures = status > 0 ? 0 : failures + 1;
    },
    sent: () => sent,
    spent: () => spent,
    answered: () => answered,
    failuresInARow: () => failures,
    requestsOf: (operation) => operations.get(operation)?.requests ?? 0,
    totals: () => ({
      requests: sent,
      walked: [...operations].map(([operation, { requests, statuses }]) => ({ operation, requests, statuses })),
    }),
  };
}

/** A connection that broke twice is told as one failure, so that this is the most that it can have been. */
function attemptsOf({ trace: { upstream } }: WalkOutcome): number {
  return upstream?.shape === 'reset' ? 2 : (upstream?.attempts ?? 1);
}

/** An operation that a walk could not ask for, and why. */
export interface NotWalked {
  readonly operation: string;
  /** Path parameters that no id was found for; empty where the requests ran out first. */
  readonly missing: readonly string[];
}

/** How one operation was walked. */
export interface WalkedOperation {
  readonly operation: string;
  readonly requests: number;
  /** Answers by status; 0 stands for none. */
  readonly statuses: ReadonlyMap<number, number>;
}

/** What a walk did. */
export interface WalkSummary {
  readonly requests: number;
  readonly walked: readonly WalkedOperation[];
  readonly notWalked: readonly NotWalked[];
  /** Why it ended: everything was asked, the bound was reached, a signal, or an upstream that no longer answers. */
  readonly ended: 'complete' | 'max-requests' | 'signal' | 'unreachable';
  /** What the last failure said; undefined unless it ended as `unreachable`. */
  readonly failure: string | undefined;
  /** Requests that were planned and not sent. */
  readonly left: number;
}
