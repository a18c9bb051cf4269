import type { DestinationStream } from 'pino';

/** A destination for log lines that writes those of a few milliseconds together. */
export interface LineBatch extends DestinationStream {
  write(line: string): void;
  /** Writes what is waiting; to be called before the process ends. */
  flush(): void;
}

const WAIT_MS = 10;
const MAX_CHARACTERS = 65_536;

/**
 * Joins lines, because under load a system call for each costs as much as sending the answer it is about. Lines wait for
 * at most 10 ms, or until there are many; what a kill can take is what came in the last of those.
 */
export function createLineBatch(destination: DestinationStream): LineBatch {
  let waiting = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting === '') return;
    const lines = waiting;
    waiting = '';
    destination.write(lines);
  };
  return {
    write(line) {
      waiting += line;
      if (waiting.length >= MAX_CHARACTERS) flush();
      else timer ??= setTimeout(flush, WAIT_MS);
    },
    flush,
  };
}
