import { networkOf } from '../../lib/network-address.ts';
import { countedAs, type Principal } from '../model/principal.ts';

/** The client to which a stream is attributed. Its speed determines how long the stream stays open. */
export interface StreamOwner {
  /** The caller, in the form that limits count. Undefined if no credential was sent. */
  readonly caller: string | undefined;
  /** True if the credential was verified. A client can make up any number of unverified credentials. */
  readonly isVerified: boolean;
  readonly address: string;
}

/** Returns the client to which a request's streams are attributed. */
export function streamOwner(principal: Principal, address: string): StreamOwner {
  const { kind } = principal;
  return { caller: kind === 'anonymous' ? undefined : countedAs(principal), isVerified: kind === 'verified', address };
}

/**
 * Returns the client to which a waiting request is attributed when clients take turns: the caller if verified, or the
 * caller's network otherwise.
 */
export function queueClient({ caller, isVerified, address }: StreamOwner): string {
  return isVerified && caller !== undefined ? caller : `network ${networkOf(address)}`;
}
