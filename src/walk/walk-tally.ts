import type { WalkOutcome } from './send-walk-request.ts';
import type { WalkSummary } from './walk-summary.ts';

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
