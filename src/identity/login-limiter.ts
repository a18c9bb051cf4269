import { LRUCache } from 'lru-cache';
import type { IdentityOptions } from './identity-options.ts';
import { createFailureLimiter, type FailureLimiter } from './limits.ts';

/** Limits failed logins per pair of network and name, and per name over all networks. */
export interface LoginLimiter extends FailureLimiter {
  /** Records a successful login. For `trustSeconds`, the limit per name does not apply to this network and name. */
  loggedIn(network: string, name: string, now: number): void;
}

/**
 * Creates the limiter for failed logins. The limit per name stops attacks on one name from many networks, each of which
 * stays below the limit for its own pair. Anyone could use this limit to lock out the rightful user, so it does not
 * apply to networks from which a login with the name recently succeeded. Names that do not exist are treated in the
 * same way, so the limits do not reveal which names exist. The tables have a limited size, and the least recently used
 * entry is removed first.
 */
export function createLoginLimiter(options: IdentityOptions['failures']): LoginLimiter {
  const { limitPerName, trustSeconds, maxPairs } = options;
  const windowMs = options.windowSeconds * 1000;
  const pairs = createFailureLimiter(options);
  const attemptsOf = new LRUCache<string, readonly number[]>({ max: maxPairs });
  const lastLogin = new LRUCache<string, number>({ max: maxPairs });
  return {
    begin(network, name, now) {
      const recent = (attemptsOf.get(name) ?? []).filter((at) => at > now - windowMs);
      const isTrusted = now - (lastLogin.get(pairOf(network, name)) ?? -Infinity) < trustSeconds * 1000;
      if (recent.length >= limitPerName && !isTrusted)
        return { retryAfterSeconds: Math.ceil(((recent.at(-limitPerName) ?? now) + windowMs - now) / 1000) };
      const limited = pairs.begin(network, name, now);
      // Older attempts do not affect the limit.
      if (limited === undefined) attemptsOf.set(name, [...recent, now].slice(-limitPerName));
      return limited;
    },
    withdraw(network, name, now) {
      pairs.withdraw(network, name, now);
      const attempts = attemptsOf.get(name) ?? [];
      const index = attempts.indexOf(now);
      if (index >= 0) attemptsOf.set(name, attempts.toSpliced(index, 1));
    },
    loggedIn: (network, name, now) => void lastLogin.set(pairOf(network, name), now),
  };
}

const pairOf = (network: string, name: string) => `${network} ${name}`;
