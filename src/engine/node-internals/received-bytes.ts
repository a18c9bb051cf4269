import type { Socket } from 'node:net';

/** Passes bytes on to the reader of a socket. Returns false if the reader has enough for now. */
export type Push = (part: Buffer | null, encoding?: BufferEncoding) => boolean;

/**
 * Puts a function between a socket and its reader. `receive` is called with every chunk that arrives, and with null at
 * the end. Returns the function that passes bytes on to the reader.
 *
 * Reason: undici reads from the socket and offers no way to change what it reads. A socket calls its own `push` with
 * everything that it receives.
 */
export function interceptReceived(socket: Socket, receive: Push): Push {
  const push: Push = socket.push.bind(socket);
  socket.push = receive;
  return push;
}
