import { destination } from 'pino';
import type { ByteDestination } from './line-batch.ts';

/** Writes bytes to a file descriptor without waiting for it; what is left is written when the process ends. */
export function bytesTo(fd: number): ByteDestination {
  const stream = destination({ fd, contentMode: 'buffer' });
  // Its type knows texts only; in this mode it takes bytes.
  return { write: (bytes) => stream.write(bytes as unknown as string) };
}
