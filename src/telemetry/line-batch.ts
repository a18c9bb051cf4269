import { destination, type DestinationStream } from 'pino';

/** A destination for log lines that writes the lines of a few milliseconds in one call. */
interface LineBatch extends DestinationStream {
  write(line: string): void;
  /** Writes all buffered lines; call it before the process exits. */
  flush(): void;
}

/** A sink for bytes; it owns the buffers that it receives. */
export interface ByteDestination {
  write(bytes: Buffer): unknown;
}

const WAIT_MS = 10;
const MAX_BYTES = 65_536;
/** The largest number of bytes that UTF-8 needs for one UTF-16 code unit. */
const BYTES_PER_UNIT = 3;

/**
 * Creates a batch. Under load, one system call per line costs as much as sending the response that the line describes.
 * Lines wait for at most 10 ms or until the buffer is full, so a killed process loses the lines of the last 10 ms at
 * most. They are buffered as bytes, because every garbage collection in between would copy concatenated strings with
 * all their parts.
 */
export function createLineBatch(sink: ByteDestination): LineBatch {
  const waiting = Buffer.allocUnsafeSlow(MAX_BYTES);
  let used = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (used === 0) return;
    const bytes = Buffer.from(waiting.subarray(0, used));
    used = 0;
    sink.write(bytes);
  };
  return {
    write(line) {
      if (used + line.length * BYTES_PER_UNIT > MAX_BYTES) flush();
      if (line.length * BYTES_PER_UNIT > MAX_BYTES) {
        sink.write(Buffer.from(line));
        return;
      }
      used += waiting.write(line, used);
      timer ??= setTimeout(flush, WAIT_MS);
    },
    flush,
  };
}

/** Writes bytes to a file descriptor without blocking; remaining bytes are written when the process exits. */
export function bytesTo(fd: number): ByteDestination {
  const stream = destination({ fd, contentMode: 'buffer' });
  // The type declares strings only; in this mode the stream takes bytes.
  return { write: (bytes) => stream.write(bytes as unknown as string) };
}
