import { Socket } from 'node:net';

/**
 * The buffer into which all connections read. One buffer is enough, because each chunk is parsed before the next one is
 * read, and the parser copies the bytes of bodies.
 */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

/** The inner properties that Node sets on a socket for the `onread` option. */
interface BufferedSocket extends Record<symbol, unknown> {
  readonly _handle?: { useUserBuffer(buffer: Buffer): void } | null;
}

const keysIn = (socket: Socket) => {
  const own = Object.getOwnPropertySymbols(socket);
  const keyOf = (name: string) => own.find(({ description }) => description === name);
  return { buffer: keyOf('kBuffer'), callback: keyOf('kBufferCb') };
};

const KEYS = keysIn(new Socket());

/** Returns whether sockets have the inner properties behind the `onread` option. */
export function hasReadBuffer(socket: Socket): boolean {
  const { buffer, callback } = keysIn(socket);
  return buffer !== undefined && callback !== undefined;
}

/**
 * Makes an accepted socket read into a shared buffer, and passes what it reads to `take`.
 *
 * Reason: by default, Node allocates 64 KiB for each read. The `onread` option avoids this but exists only for sockets
 * that connect to a server, so the inner properties behind the option are set here. TLS sockets keep the default,
 * because they emit all received records even after being paused, and a shared buffer could not preserve the order of
 * these records.
 */
export function readIntoSharedBuffer(socket: Socket, take: (chunk: Buffer) => void): void {
  const { buffer, callback } = KEYS;
  const { _handle: handle } = socket as unknown as BufferedSocket;
  if ('encrypted' in socket) return;
  // `checkNode` has found the keys. Only a socket of the operating system has a handle.
  if (buffer === undefined || callback === undefined || !handle) return;
  const internals = socket as unknown as Record<symbol, unknown>;
  internals[buffer] = READ_BUFFER;
  internals[callback] = (length: number) => take(READ_BUFFER.subarray(0, length));
  handle.useUserBuffer(READ_BUFFER);
}
