import type { CommandIo } from './command-io.ts';

/** Shows how far a walk is. */
export interface WalkProgress {
  readonly step: (progress: { readonly sent: number; readonly left: number; readonly operation: string }) => void;
  /** Clears the live line. */
  readonly end: () => void;
}

/** Where nobody watches a line, one is written for so many requests. */
const EVERY = 50;

/** A live line on a terminal, else a line now and then. */
export function createWalkProgress({ live, err }: Pick<CommandIo, 'live' | 'err'>, maxRequests: number): WalkProgress {
  return {
    step: ({ sent, left, operation }) => {
      const total = Math.min(maxRequests, sent + left);
      if (live !== undefined) live(`${sent}/${total}  ${operation}`);
      else if (sent % EVERY === 0) err(`${sent} of ${total} requests, ${operation}`);
    },
    end: () => live?.(''),
  };
}
