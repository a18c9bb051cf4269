import { LRUCache } from 'lru-cache';
import type { ChangeListener, ChangeLog } from '../model/change-log.ts';
import { type Redis, RedisUnavailable } from '../redis/connect-redis.ts';
import { openFleetKey } from '../redis/fleet-key.ts';

/** The verified credentials of a gateway. */
interface CredentialMemory {
  /** Makes the credentials of all callers whose names match expire, so that they are verified again. */
  expireCallers(matches: (name: string) => boolean): void;
}

/** Makes all gateways of a fleet verify credentials again. */
export interface Revocations {
  /** Tells the other gateways to verify the credentials of a caller again, or of all callers. Never rejects. */
  announce(name: string | undefined): Promise<void>;
  /**
   * Returns whether a credential that was verified at this instant, in epoch milliseconds, may be accepted without a
   * new verification. It may not if revocations cannot arrive and the verification is older than the bound.
   */
  mayTrust(verifiedAt: number): boolean;
  /** Sets the memory from which other gateways' revocations remove credentials. */
  applyTo(memory: CredentialMemory): void;
  readonly listener: ChangeListener;
}

interface RevocationParts {
  readonly redis: Redis;
  readonly changes: Pick<ChangeLog, 'append'>;
  readonly mayTrust: (verifiedAt: number) => boolean;
}

/** Stands for all callers in a change. */
const ALL = 'all';
const MAX_TAGS = 10_000;

/**
 * Creates the revocations. A change contains the id of the fleet's key and a keyed hash of the caller's name. A gateway
 * that does not know this key verifies the credentials of all callers again, which costs one verification each.
 */
export function createRevocations({ redis, changes, mayTrust }: RevocationParts): Revocations {
  const key = openFleetKey(redis, 'callers');
  const tags = new LRUCache<string, string>({ max: MAX_TAGS });
  let memory: CredentialMemory | undefined;

  const tagOf = (name: string) => {
    const known = tags.get(name);
    const id = `${key.id() ?? ''}:`;
    if (known?.startsWith(id) === true) return known;
    const tag = id + key.hash('caller', name);
    tags.set(name, tag);
    return tag;
  };
  const expireAll = () => memory?.expireCallers(() => true);
  const readKey = async () => {
    try {
      await key.read();
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
    }
  };

  return {
    async announce(name) {
      if (key.id() === undefined) await readKey();
      const caller = name === undefined || key.id() === undefined ? ALL : tagOf(name);
      await changes.append({ kind: 'forget', caller });
    },
    mayTrust,
    applyTo: (next) => void (memory = next),
    listener: {
      apply(change) {
        if (change.kind !== 'forget') return;
        const id = key.id();
        if (id !== undefined && change.caller.startsWith(`${id}:`)) {
          memory?.expireCallers((name) => tagOf(name) === change.caller);
          return;
        }
        expireAll();
        // The next change of this gateway or another one then concerns a single caller.
        if (change.caller !== ALL) void readKey();
      },
      reset: expireAll,
    },
  };
}
