import { type Principal, countedAs } from '../../engine/model/principal.ts';
import { stableNumbers } from '../../lib/stable-numbers.ts';

/** Somebody whose conversation is mirrored as a whole, or not at all. */
type Conversation = { readonly principal: Principal; readonly arrival: { readonly clientAddress: string } };

/**
 * Returns a number for each caller, from 0 to 1. A caller has the same number on all gateways and after a restart, and
 * nobody can tell the caller from the number. Callers without a name are told apart by their addresses.
 */
export function createCallerNumbers(seed: string): (caller: Conversation) => number {
  const numberOf = stableNumbers(`portico mirror ${seed}`);
  return ({ principal, arrival }) => {
    const name = countedAs(principal);
    return numberOf(principal.kind === 'anonymous' ? `${name} ${arrival.clientAddress}` : name);
  };
}
