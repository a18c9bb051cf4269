import type { ServerResponse } from 'node:http';
import type { StreamedBody } from '../model/streamed-body.ts';
import type { Trace } from '../model/trace.ts';
import { isSent } from './connection.ts';

/** What counts the bytes of a body, and the longest pause of a client that reads it. */
interface StreamContext {
  readonly trace: Pick<Trace, 'bytes'>;
  /** In milliseconds. */
  readonly clientTimeoutMs: number;
}

/**
 * Writes a body no faster than the client reads it. Returns the number of bytes written, immediately if all of them have
 * been sent, otherwise once the response is closed. If the body is truncated, the client's connection is closed too,
 * because a normal end would look like a complete response. It is closed only after everything received before that has
 * been sent. If the client disconnects or pauses for too long, the body is destroyed.
 */
export function writeStream(
  res: ServerResponse,
  body: StreamedBody,
  { trace, clientTimeoutMs }: StreamContext,
): number | Promise<number> {
  let bytes = 0;
  // The bytes are counted as they are written, because a response that closes early is recorded at that moment.
  trace.bytes = 0;
  let unsent = 0;
  let state = 'reading' as 'reading' | 'read' | 'broken';
  let isWaiting = false;
  let clientTimer: NodeJS.Timeout | undefined;
  const awaitClient = () => {
    clearTimeout(clientTimer);
    clientTimer = setTimeout(() => res.destroy(), clientTimeoutMs);
  };
  const sent = () => {
    unsent -= 1;
    if (state === 'broken' && unsent === 0) res.destroy();
  };
  body.read({
    part(part) {
      bytes += part.length;
      trace.bytes = bytes;
      unsent += 1;
      if (res.write(part, sent)) return true;
      if (isWaiting) awaitClient();
      return false;
    },
    end(failure) {
      state = failure === undefined ? 'read' : 'broken';
      if (state === 'read') res.end();
      else if (unsent === 0) res.destroy();
      if (isWaiting) awaitClient();
    },
  });
  // Most bodies are complete when they are first read, so there is nothing to wait for.
  if (state === 'read' && isSent(res)) return bytes;
  isWaiting = true;
  if (state !== 'reading' || res.writableNeedDrain) awaitClient();
  res.on('drain', () => {
    clearTimeout(clientTimer);
    body.resume();
  });
  const { promise, resolve } = Promise.withResolvers<number>();
  res.once('close', () => {
    clearTimeout(clientTimer);
    body.destroy();
    resolve(bytes);
  });
  return promise;
}
