import type { Socket } from 'node:net';

/**
 * Keeps reading from a socket after a write has failed, and calls `onError` for the first failed write. After a failed
 * write, all later writes are discarded. The response still ends, or is truncated, when the connection ends.
 *
 * Reason: a server can respond to a request and close the connection before it has read the body (RFC 9112 §9.5). In that
 * case, the next write fails even though the response has already arrived, and Node would destroy the socket along with
 * the unread response. A socket writes through its own `_write` and `_writev`.
 */
export function readAfterWriteError(socket: Socket, onError: () => void): void {
  let failed = false;
  type Done = (error?: Error | null) => void;
  const tolerating = (write: (done: Done) => void, done: Done) => {
    if (failed) return done();
    return write((error) => {
      if (error && !failed) {
        failed = true;
        onError();
      }
      done();
    });
  };
  const [write, writev] = [socket._write.bind(socket), socket._writev?.bind(socket)];
  socket._write = (chunk, encoding, done) => tolerating((ended) => write(chunk, encoding, ended), done);
  if (writev) socket._writev = (chunks, done) => tolerating((ended) => writev(chunks, ended), done);
}
