import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A connection to a server, and everything that has been received on it so far. */
export interface RawClient {
  readonly socket: Socket;
  send(...lines: string[]): void;
  received(): string;
  /** Resolves with everything received so far, as soon as it matches the pattern or meets the condition. */
  until(wanted: RegExp | ((text: string) => boolean)): Promise<string>;
  /** Resolves when the connection is closed, with true if it was reset and false if it ended cleanly. */
  closed: Promise<boolean>;
}

/** Connects to a local port. */
export async function connectRaw(port: number): Promise<RawClient> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString('latin1')));
  let broken = false;
  socket.on('error', () => (broken = true));
  const closed = new Promise<boolean>((resolve) => socket.once('close', () => resolve(broken)));
  await once(socket, 'connect');
  const until = async (wanted: RegExp | ((text: string) => boolean)): Promise<string> => {
    while (typeof wanted === 'function' ? !wanted(text) : !wanted.test(text)) {
      if (socket.destroyed) throw new Error(`closed too early: ${text}`);
      await Promise.race([once(socket, 'data').catch(() => undefined), closed]);
    }
    return text;
  };
  return {
    socket,
    send: (...lines) => void socket.write(lines.join('\r\n'), 'latin1'),
    received: () => text,
    until,
    closed,
  };
}

/** Sends one request on a new connection. Returns everything received until the server closes the connection. */
export async function sendRaw(port: number, ...lines: string[]): Promise<string> {
  const client = await connectRaw(port);
  client.send(...lines);
  await client.closed;
  return client.received();
}
