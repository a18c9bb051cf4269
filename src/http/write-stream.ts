import type { ServerResponse } from 'node:http';
import type { StreamedBody } from '../model/streamed-body.ts';
import type { Trace } from '../model/trace.ts';
import { isSent } from './connection.ts';

interface StreamContext {
  readonly trace: Pick<Trace, 'bytes'>;
  /** How long the client may stop reading while the body is sent, in milliseconds. */
  readonly clientTimeoutMs: number;
}

/**
 * Writes a streamed body no faster than the client reads it. Returns the number of bytes written. If some bytes have
 * not been sent yet, returns a promise for that number, which resolves when the response closes. If the body turns out
 * to be incomplete, the part that was received is sent, and the connection is then closed abruptly, because a normal
 * end would make the response look complete. If the client disconnects or stops reading for too long, the body is
 * destroyed.
 */
export function writeStream(
  res: ServerResponse,
  body: StreamedBody,
  { trace, clientTimeoutMs }: StreamContext,
): number | Promise<number> {
  let bytes = 0;
  // Bytes are counted as they are written, because the trace may be recorded before the last of them.
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
  // Most bodies are complete after the first read. In that case, the number is returned immediately.
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
