import type { Socket } from 'node:net';
import { unsupportedNode } from './check-node.ts';

/**
 * Detaches Node's HTTP parser from a socket that an HTTP server has just accepted, and returns the function that passes
 * bytes to it.
 *
 * Reason: Portico checks each message before the parser sees it, and stops after a refused one. Node offers no way to
 * look at the bytes before its parser. It attaches the parser as the only listener of `data`.
 */
export function detachParser(socket: Socket): (bytes: Buffer) => void {
  const [parse, ...others] = socket.listeners('data') as ((bytes: Buffer) => void)[];
  if (parse === undefined || others.length > 0) throw unsupportedNode('its HTTP parser is attached differently');
  socket.off('data', parse);
  return parse;
}
