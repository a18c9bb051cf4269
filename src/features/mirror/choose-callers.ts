import { createHmac } from 'node:crypto';
import { canonicalName } from '../../engine/model/caller-name.ts';
import { type Principal, countedAs, verifiedAudience } from '../../engine/model/principal.ts';
import { boundedMemo } from '../../lib/bounded-maps.ts';

const MAX_REMEMBERED = 4_096;

/** Somebody whose conversation is mirrored as a whole, or not at all. */
type Conversation = { readonly principal: Principal; readonly arrival: { readonly clientAddress: string } };

/**
 * Returns a text that stands for a caller. A name counts even if it is only claimed, as in `observe` mode, because what
 * else is known of such callers is different on each gateway. Callers without a name are told apart by their addresses.
 */
export function conversationOf({ principal, arrival }: Conversation): string {
  const { kind, name } = principal;
  if (kind === 'anonymous') return `${countedAs(principal)} ${arrival.clientAddress}`;
  return name === undefined ? countedAs(principal) : verifiedAudience(canonicalName(name));
}

/**
 * Returns a number for each caller, from 0 to 1. A caller has the same number on all gateways and after a restart, and
 * nobody can tell the caller from the number.
 */
export function createCallerNumbers(seed: string): (conversation: string) => number {
  return boundedMemo(MAX_REMEMBERED, (name: string) => {
    const digest = createHmac('sha256', `portico mirror ${seed}`).update(name).digest();
    return digest.readUInt32BE(0) / 2 ** 32;
  });
}
