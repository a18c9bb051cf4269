import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

// Tomcat's default, shorter than most balancers': a gateway has to cope with sockets that close under it.
const KEEP_ALIVE_MS = 20_000;

/** A server that listens. */
export interface Listening {
  /** `http://host:port`, no slash at the end. */
  readonly origin: string;
  /** Ends every connection at once and stops listening. */
  readonly close: () => Promise<void>;
}

/** Starts an HTTP server; rejects when the address cannot be had. */
export async function listen(listener: RequestListener, host: string, port: number): Promise<Listening> {
  const server = createServer(listener);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { address, port: actualPort, family } = server.address() as AddressInfo;
  return {
    origin: `http://${family === 'IPv6' ? `[${address}]` : address}:${actualPort}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
