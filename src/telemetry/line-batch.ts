import type { DestinationStream } from 'pino';

/** A destination for log lines that writes those of a few milliseconds together. */
export interface LineBatch extends DestinationStream {
  write(line: string): void;
  /** Writes what is waiting; to be called before the process ends. */
  flush(): void;
}

/** Takes bytes that are its own from then on. */
export interface ByteDestination {
  write(bytes: Buffer): unknown;
}

const WAIT_MS = 10;
const MAX_BYTES = 65_536;
/** UTF-8 takes at most so many bytes for a unit of a text. */
const BYTES_PER_UNIT = 3;

/**
 * Joins lines, because under load a system call for each costs as much as sending the answer it is about. Lines wait for
 * at most 10 ms, or until there are many; what a kill can take is what came in the last of those. They wait as bytes:
 * texts that are put together from parts would be copied, parts and all, by every collection meanwhile.
 */
export function createLineBatch(destination: ByteDestination): LineBatch {
  const waiting = Buffer.allocUnsafeSlow(MAX_BYTES);
  let used = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (used === 0) return;
    const bytes = Buffer.from(waiting.subarray(0, used));
    used = 0;
    destination.write(bytes);
  };
  return {
    write(line) {
      if (used + line.length * BYTES_PER_UNIT > MAX_BYTES) flush();
      if (line.length * BYTES_PER_UNIT > MAX_BYTES) {
        destination.write(Buffer.from(line));
        return;
      }
      used += waiting.write(line, used);
      timer ??= setTimeout(flush, WAIT_MS);
    },
    flush,
  };
}
