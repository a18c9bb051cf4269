import type { IncomingMessage } from 'node:http';
import { parseBasicCredentials } from '../lib/basic-credentials.ts';
import { networkOf } from '../lib/network-address.ts';

/** What an operator's request offers as a token, and from where. */
export interface AdminAttempt {
  /** Undefined where no token is offered; empty where what is offered cannot be read. */
  readonly token: string | undefined;
  /** The peer's address; a whole network of one site where it is IPv6. */
  readonly from: string;
}

interface Peer {
  readonly remoteAddress?: string | undefined;
}

const BEARER = /^bearer +(\S+)$/i;

/** Reads the token of a request: `Bearer TOKEN`, or `Basic` with any name and the token as password, as browsers send it. */
export function attemptOf(req: Pick<IncomingMessage, 'headers'> & { socket?: Peer }): AdminAttempt {
  const { authorization } = req.headers;
  return {
    token: authorization === undefined ? undefined : tokenIn(authorization),
    from: networkOf(req.socket?.remoteAddress ?? ''),
  };
}

function tokenIn(authorization: string): string {
  return BEARER.exec(authorization)?.[1] ?? parseBasicCredentials(authorization)?.password ?? '';
}
