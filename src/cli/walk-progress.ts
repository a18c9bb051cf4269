import type { CommandIo } from './command-io.ts';

/** One request of a walk. */
export interface WalkStep {
  readonly sent: number;
  /** Requests that wait; undefined where nobody knows how many will follow. */
  readonly left?: number | undefined;
  readonly operation: string;
}

/** Shows how far a walk is. */
export interface WalkProgress {
  readonly step: (progress: WalkStep) => void;
  /** Clears the live line. */
  readonly end: () => void;
}

/** Where nobody watches a line, one is written for so many requests. */
const EVERY = 50;

/** A live line on a terminal, else a line now and then. */
export function createWalkProgress({ live, err }: Pick<CommandIo, 'live' | 'err'>, maxRequests: number): WalkProgress {
  return {
    step: ({ sent, left, operation }) => {
      const total = left === undefined ? undefined : Math.min(maxRequests, sent + left);
      if (live !== undefined) live(`${total === undefined ? sent : `${sent}/${total}`}  ${operation}`);
      else if (sent % EVERY === 0) err(`${total === undefined ? sent : `${sent} of ${total}`} requests, ${operation}`);
    },
    end: () => live?.(''),
  };
}
