import type { IncomingMessage } from 'node:http';
import type { Express, Request } from 'express';

/** Who is on the other end of a request, and by which scheme it came to the first proxy that is trusted. */
export interface Client {
  /** Empty once the connection is gone. */
  readonly address: string;
  readonly protocol: string;
}

/** Reads who sent a request. */
export type ReadClient = (req: IncomingMessage) => Client;

/** Makes the reader: Express looks through trusted proxies, and where there is none the connection tells all. */
export function createReadClient(app: Pick<Express, 'request'>, trustedProxies: readonly string[]): ReadClient {
  if (trustedProxies.length === 0)
    return ({ socket }) => ({
      address: socket.remoteAddress ?? '',
      protocol: 'encrypted' in socket ? 'https' : 'http',
    });
  return (req) => {
    // What Express does to each request that comes to it.
    const { ip = '', protocol } = Object.setPrototypeOf(req, app.request) as Request;
    return { address: ip, protocol };
  };
}
