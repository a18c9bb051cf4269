import { destination } from 'pino';
import type { ByteDestination } from './line-batch.ts';

/** Writes bytes to a file descriptor without blocking; remaining bytes are written when the process exits. */
export function bytesTo(fd: number): ByteDestination {
  const stream = destination({ fd, contentMode: 'buffer' });
  // The type declares strings only; in this mode the stream takes bytes.
  return { write: (bytes) => stream.write(bytes as unknown as string) };
}
