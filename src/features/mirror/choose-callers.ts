import { canonicalName } from '../../engine/model/caller-name.ts';
import { type Principal, countedAs, verifiedAudience } from '../../engine/model/principal.ts';
import { stableNumbers } from '../../lib/stable-numbers.ts';

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
export const createCallerNumbers = (seed: string): ((conversation: string) => number) =>
  stableNumbers(`portico mirror ${seed}`);
