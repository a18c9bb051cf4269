import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { ListenerOptions } from '../../../src/engine/http/listen.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';

/** Options for a listener on a free port. */
export const LISTENER: ListenerOptions = {
  host: '127.0.0.1',
  port: 0,
  keepAliveSeconds: 75,
  requestTimeoutSeconds: 60,
  headersTimeoutSeconds: 20,
  maxHeaderBytes: 2048,
  onRefused: () => undefined,
};

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

/** Starts a server on a free port and stops it at the end of the test. */
export async function serve(
  listener: RequestListener | Server,
): Promise<{ url: string; port: number; server: Server }> {
  const server = typeof listener === 'function' ? createServer(listener) : listener;
  cleanUpAfterTest(() => close(server));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, server };
}

/** Sends text over a new connection. Returns everything that arrives until the server closes the connection. */
export function talk(port: number, text: string): { readonly socket: Socket; readonly heard: Promise<string> } {
  const socket = connect(port, '127.0.0.1');
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  socket.on('error', () => undefined);
  socket.write(text);
  const heard = new Promise<string>((resolve) => {
    socket.on('close', () => resolve(Buffer.concat(parts).toString()));
  });
  return { socket, heard };
}
