import type { WalkOutcome } from './send-walk-request.ts';

/** Counts the requests and responses of a walk. */
export interface WalkTally {
  add(operation: string, outcome: WalkOutcome): void;
  sent(): number;
  /** The number of requests that the upstream received. It includes requests that were repeated on a new connection. */
  spent(): number;
  /** The number of requests that the upstream responded to. */
  responses(): number;
  consecutiveFailures(): number;
  requestsOf(operation: string): number;
  totals(): Pick<WalkSummary, 'requests' | 'walked'>;
}

/** Creates an empty tally. */
export function createWalkTally(): WalkTally {
  const operations = new Map<string, { requests: number; readonly statuses: Map<number, number> }>();
  let sent = 0;
  let spent = 0;
  let responses = 0;
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
      if (status > 0) responses += 1;
      failures = status > 0 ? 0 : failures + 1;
    },
    sent: () => sent,
    spent: () => spent,
    responses: () => responses,
    consecutiveFailures: () => failures,
    requestsOf: (operation) => operations.get(operation)?.requests ?? 0,
    totals: () => ({
      requests: sent,
      walked: [...operations].map(([operation, { requests, statuses }]) => ({ operation, requests, statuses })),
    }),
  };
}

/**
 * Returns the maximum number of attempts that one result can represent. Two connection resets are reported as a single
 * failure.
 */
function attemptsOf({ trace: { upstream } }: WalkOutcome): number {
  return upstream?.shape === 'reset' ? 2 : (upstream?.attempts ?? 1);
}

/** An operation that a walk could not request, and the reason. */
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
