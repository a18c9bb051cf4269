import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { cleanUpAfterFile } from './clean-up.ts';

/** A network path to a server. A test can cut it or slow it down. */
export interface TcpProxy {
  readonly port: number;
  /** Closes all connections and refuses new ones. */
  cut(): void;
  restore(): void;
  /** Delays everything that the server sends from now on. */
  delay(milliseconds: number): void;
}

/** Starts a proxy for the port of a local server. */
export async function startTcpProxy(port: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let delayMs = 0;
  const proxy = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const server = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    client.pipe(server);
    // Each part waits for all earlier parts, so that the order is preserved even if the delay is shortened.
    let earlier = Promise.resolve();
    const forward = async (part: string | Buffer, due: Promise<unknown>, before: Promise<void>) => {
      await Promise.all([due, before]);
      client.write(part);
    };
    server.on('data', (part) => {
      earlier = forward(part, delayMs === 0 ? Promise.resolve() : wait(delayMs), earlier);
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  cleanUpAfterFile(() => {
    cut();
    proxy.close();
  });
  return {
    port: (proxy.address() as AddressInfo).port,
    cut,
    restore: () => {
      isCut = false;
    },
    delay: (milliseconds) => {
      delayMs = milliseconds;
    },
  };
}
