import { Socket } from 'node:net';
import { StartFault } from '../model/fault.ts';

/**
 * Checks that the running version of Node has the inner parts on which this folder relies. Throws a `StartFault` that
 * names what is missing, because without these parts, Portico would lose responses or become slow without a sign.
 * `socket` is a new socket of this version.
 */
export function checkNode(socket: Socket = new Socket()): void {
  const missing = (['push', '_write', '_writev'] as const).filter((name) => typeof socket[name] !== 'function');
  if (missing.length > 0) throw unsupportedNode(`its sockets lack ${missing.join(', ')}`);
}

/** Returns the error for a version of Node that has changed. */
export function unsupportedNode(reason: string): StartFault {
  return new StartFault([
    { source: 'node', pointer: '', message: `version ${process.version} is not supported, because ${reason}` },
  ]);
}
