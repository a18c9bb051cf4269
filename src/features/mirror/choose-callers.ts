import { createHmac } from 'node:crypto';
import { type Principal, countedAs } from '../../engine/model/principal.ts';
import { boundedMemo } from '../../lib/bounded-maps.ts';

const MAX_REMEMBERED = 4_096;

/** Somebody whose conversation is mirrored as a whole, or not at all. */
type Conversation = { readonly principal: Principal; readonly arrival: { readonly clientAddress: string } };

/**
 * Returns a number for each caller, from 0 to 1. A caller has the same number on all gateways and after a restart, and
 * nobody can tell the caller from the number. Callers without a name are told apart by their addresses.
 */
export function createCallerNumbers(seed: string): (caller: Conversation) => number {
  const numberOf = boundedMemo(MAX_REMEMBERED, (name: string) => {
    const digest = createHmac('sha256', `portico mirror ${seed}`).update(name).digest();
    return digest.readUInt32BE(0) / 2 ** 32;
  });
  return ({ principal, arrival }) => {
    const name = countedAs(principal);
    return numberOf(principal.kind === 'anonymous' ? `${name} ${arrival.clientAddress}` : name);
  };
}
