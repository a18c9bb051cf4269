import type { CommandIo } from '../command.ts';

interface WalkStep {
  readonly sent: number;
  /** The number of requests that are still planned. Undefined if the number is unknown. */
  readonly left?: number | undefined;
  readonly operation: string;
}

interface WalkProgress {
  readonly step: (progress: WalkStep) => void;
  readonly end: () => void;
}

/** The number of requests after which another progress line is written if there is no terminal. */
const REQUESTS_PER_LINE = 50;
const BAR_WIDTH = 24;

/**
 * Shows the progress of a walk. On a terminal, a single line is updated continuously. Otherwise, a new line is written
 * after every {@link REQUESTS_PER_LINE} requests. The total is an upper limit, because the number of planned requests
 * changes with each response.
 */
export function createWalkProgress({ live, err }: Pick<CommandIo, 'live' | 'err'>, maxRequests: number): WalkProgress {
  return {
    step: ({ sent, left, operation }) => {
      // After the walk, `portico learn` sends further requests, whose number has no upper limit.
      const count = left === undefined ? `${sent} requests` : `${sent} of at most ${maxRequests} requests`;
      if (live !== undefined) live(`${left === undefined ? '' : `${bar(sent / maxRequests)} `}${count}  ${operation}`);
      else if (sent % REQUESTS_PER_LINE === 0) err(`${count}, ${operation}`);
    },
    end: () => live?.(''),
  };
}

function bar(share: number): string {
  const filled = Math.min(BAR_WIDTH, Math.round(share * BAR_WIDTH));
  return `[${'#'.repeat(filled)}${' '.repeat(BAR_WIDTH - filled)}]`;
}
