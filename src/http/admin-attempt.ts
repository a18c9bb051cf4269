import type { IncomingMessage } from 'node:http';
import { parseBasicCredentials } from '../lib/basic-credentials.ts';
import { networkOf } from '../lib/network-address.ts';

/** The token and the address of an operator's request. */
export interface AdminAttempt {
  /** Undefined if the request has no credential; empty if the credential is malformed. */
  readonly token: string | undefined;
  /** The address of the peer; for IPv6, its network. */
  readonly from: string;
}

interface Peer {
  readonly remoteAddress?: string | undefined;
}

const BEARER = /^bearer +(\S+)$/i;

/**
 * Reads the token of a request: `Bearer TOKEN`, or `Basic` with any name and the token as password, as browsers send
 * it.
 */
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
