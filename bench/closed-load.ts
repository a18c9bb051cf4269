import { connect } from 'node:net';
import { createResponseCounter } from './response-counter.ts';

/** Requests with one key each. The keys range from `from` (inclusive) to `to` (exclusive). */
export interface ClosedLoad {
  readonly port: number;
  /** The part of the path before the key. The key has seven digits. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly from: number;
  readonly to: number;
}

/**
 * Requests each key once. Each connection sends its next request as soon as it is free. Rejects on any status other
 * than 200.
 */
export function requestEachKey(load: ClosedLoad): Promise<void> {
  const { port, path, headers, connections, from, to } = load;
  const lines = Object.entries({ Host: `127.0.0.1:${port}`, ...headers }).map(([name, value]) => `${name}: ${value}`);
  const tail = ` HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
  let next = from;
  return Promise.all(
    Array.from({ length: Math.min(connections, to - from) }, () => {
      return new Promise<void>((resolve, reject) => {
        const send = () => {
          if (next === to) {
            socket.destroy();
            resolve();
            return;
          }
          socket.write(`GET ${path}${String(next).padStart(7, '0')}${tail}`, 'latin1');
          next += 1;
        };
        const count = createResponseCounter((status) => {
          if (status === 200) send();
          else socket.destroy(new Error(`status ${status} for a key of ${path}`));
        });
        const onread = {
          buffer: Buffer.alloc(65_536),
          callback: (length: number, buffer: Uint8Array) => {
            count(buffer as Buffer, length);
            return true;
          },
        };
        const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread }, send);
        socket.once('error', reject);
        socket.once('end', () =>
          reject(new Error(`the server closed a connection while keys of ${path} were being requested`)),
        );
      });
    }),
  ).then(() => undefined);
}
