import type { Clock } from '../../../lib/clock.ts';
import { createLruMap } from '../../../lib/bounded-maps.ts';
import { createClaimListeners } from '../claim-listeners.ts';
import type { Claim, Claims, Unclaimable } from '../sharing.ts';

/** The maximum number of keys that are claimed or settled. The least recently used one is forgotten first. */
const MAX_KEYS = 10_000;

/** What holds a key, since when (in epoch milliseconds), and for how many milliseconds. */
interface Hold {
  readonly state: Unclaimable;
  /** The number of claims that hold the key together. */
  holders: number;
  since: number;
  ms: number;
}

const NO_CLAIM: Claim = { renew: () => false, release: () => undefined };

/** Creates claims that count only in this process. */
export function createOwnClaims(clock: Clock): Claims {
  const holds = createLruMap<string, Hold>(MAX_KEYS);
  const listeners = createClaimListeners();
  // If the clock was set back, a key must not be held for longer than intended.
  const holdOf = (key: string) => {
    const hold = holds.get(key);
    return hold !== undefined && Math.abs(clock() - hold.since) < hold.ms ? hold : undefined;
  };
  return {
    take(key, ms, force = false) {
      const held = holdOf(key);
      if (held !== undefined && !force) return held.state;
      if (held?.state === 'settled') return NO_CLAIM;
      const own: Hold = held ?? { state: 'taken', holders: 0, since: clock(), ms };
      own.holders += 1;
      holds.set(key, own);
      return {
        renew(extraMs) {
          if (holdOf(key) !== own) return false;
          Object.assign(own, { since: clock(), ms: extraMs });
          return true;
        },
        release(succeeded) {
          own.holders -= 1;
          if (own.holders === 0 && holdOf(key) === own) holds.delete(key);
          listeners.ended(key, succeeded);
        },
      };
    },
    look: (key) => holdOf(key)?.state,
    settle: (key, ms) => void holds.set(key, { state: 'settled', holders: 0, since: clock(), ms }),
    listen: listeners.listen,
  };
}
