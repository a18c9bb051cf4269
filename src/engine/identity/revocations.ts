import { createLruMap } from '../../lib/bounded-maps.ts';
import { canonicalName } from '../model/caller-name.ts';
import type { Sharing } from '../sharing/sharing.ts';

/** A gateway's memory of verified credentials. */
export interface CredentialMemory {
  /**
   * Expires the credentials of all callers whose names satisfy `matches`, so that these credentials are verified again.
   */
  expireCallers(matches: (name: string) => boolean): void;
}

/** Revokes verified credentials on all gateways. */
export interface Revocations {
  /**
   * Revokes a caller's credentials on the other gateways, which then verify them again. If `name` is undefined, revokes
   * all callers' credentials. Never rejects.
   */
  announce(name: string | undefined): Promise<void>;
  /**
   * Returns whether a credential verified at this time (epoch milliseconds) may be accepted without being verified
   * again. It must not be accepted if the verification is too old and this gateway may have missed revocations since
   * then. Undefined if no revocation can be missed.
   */
  readonly mayTrust: ((verifiedAt: number) => boolean) | undefined;
  /** Sets the credential memory to which other gateways' revocations are applied. */
  applyTo(memory: CredentialMemory): void;
  /** Sets a further memory to which they are applied: that of a second upstream. Undefined if there is none. */
  applyToSecond(memory: CredentialMemory | undefined): void;
}

/** The value of `caller` in a change that applies to all callers. */
const ALL = 'all';
const MAX_TAGS = 10_000;

/**
 * Creates the revocations. A revocation contains the id of the shared key and a keyed hash of the caller's name. A
 * gateway that does not have the key verifies all callers' credentials again, once for each caller. `mayServe` returns
 * whether something that was known at a time may still be used.
 */
export function createRevocations(
  { changes, keyedHash }: Pick<Sharing, 'changes' | 'keyedHash'>,
  mayServe: (asOf: number) => boolean,
): Revocations {
  const key = keyedHash('callers');
  const tags = createLruMap<string, string>(MAX_TAGS);
  let memory: CredentialMemory | undefined;
  let second: CredentialMemory | undefined;
  const expire = (matches: (name: string) => boolean) => {
    memory?.expireCallers(matches);
    second?.expireCallers(matches);
  };

  const tagOf = (name: string) => {
    const known = tags.get(name);
    const id = `${key.id() ?? ''}:`;
    if (known?.startsWith(id) === true) return known;
    const tag = id + key.hash('caller', canonicalName(name));
    tags.set(name, tag);
    return tag;
  };
  const expireAll = () => expire(() => true);

  changes.listen({
    apply(change) {
      if (change.kind !== 'forget') return;
      const id = key.id();
      if (id !== undefined && change.caller.startsWith(`${id}:`)) {
        expire((name) => tagOf(name) === change.caller);
        return;
      }
      expireAll();
      // Once the key is known, each later revocation affects only one caller.
      if (change.caller !== ALL) void key.read();
    },
    reset() {
      expireAll();
      void key.read();
    },
  });
  return {
    async announce(name) {
      if (key.id() === undefined) await key.read();
      const caller = name === undefined || key.id() === undefined ? ALL : tagOf(name);
      await changes.append({ kind: 'forget', caller });
    },
    mayTrust: changes.canMiss ? mayServe : undefined,
    applyTo: (next) => void (memory = next),
    applyToSecond: (next) => void (second = next),
  };
}
