import type { IdentityOptions } from './identity-options.ts';

/** Counts failed attempts per pair of network and name. */
export interface FailureLimiter {
  /**
   * Counts an attempt as failed before it is made, so that parallel attempts cannot outrun the count. Returns how long
   * to wait where the pair has failed too often, or where its network has failed under too many names.
   */
  begin(network: string, name: string, now: number): { readonly retryAfterSeconds: number } | undefined;
  /** Takes back what `begin` counted at `now`, because the attempt did not fail. */
  withdraw(network: string, name: string, now: number): void;
}

/** One network may fill one part in so many of the table, so that names made up there never push out other networks. */
const SHARES = 32;
/** Names that one network may fail under at least, however small the table is. */
const MIN_NAMES = 16;

/** The instants of recent attempts by name, the name that was tried last at the end. */
type Names = Map<string, readonly number[]>;

/**
 * A sliding window of instants per pair, in a bounded table. A network whose share is full is refused under further
 * names until one of its own pairs expires: it neither pushes out the counts of other networks, nor its own to guess
 * on. Where many networks together overflow the table, the one that was tried least recently is forgotten.
 */
export function createFailureLimiter(options: IdentityOptions['failures']): FailureLimiter {
  const { limit, maxPairs } = options;
  const share = Math.min(maxPairs, Math.max(MIN_NAMES, Math.floor(maxPairs / SHARES)));
  const windowMs = options.windowSeconds * 1000;
  /** The network that was tried last is at the end. */
  const networks = new Map<string, Names>();
  let pairs = 0;

  const drop = (network: string, names: Names, name: string) => {
    if (names.delete(name)) pairs -= 1;
    if (names.size === 0) networks.delete(network);
  };
  const dropExpired = (network: string, names: Names, now: number) => {
    for (const [name, attempts] of names) {
      if ((attempts.at(-1) ?? 0) > now - windowMs) return;
      drop(network, names, name);
    }
  };
  const secondsUntil = (at: number, now: number) => ({ retryAfterSeconds: Math.ceil((at + windowMs - now) / 1000) });

  return {
    begin(network, name, now) {
      const names: Names = networks.get(network) ?? new Map<string, readonly number[]>();
      // Refused attempts count as use, so that a network that goes on is not the one to be forgotten.
      if (networks.delete(network)) networks.set(network, names);
      const recent = (names.get(name) ?? []).filter((at) => at > now - windowMs);
      if (recent.length >= limit) return secondsUntil(recent[0] ?? now, now);
      if (!names.has(name) && names.size >= share) dropExpired(network, names, now);
      if (!names.has(name) && names.size >= share) {
        const [first = []] = names.values();
        return secondsUntil(first.at(-1) ?? now, now);
      }
      if (!names.delete(name)) pairs += 1;
      names.set(name, [...recent, now]);
      networks.set(network, names);
      for (const [oldest, forgotten] of networks) {
        if (pairs <= maxPairs) break;
        networks.delete(oldest);
        pairs -= forgotten.size;
      }
      return undefined;
    },
    withdraw(network, name, now) {
      const names = networks.get(network);
      const attempts = names?.get(name) ?? [];
      const index = attempts.indexOf(now);
      if (names === undefined || index < 0) return;
      // A pair without a failure takes no room: callers who get in must not use up the share of their network.
      if (attempts.length === 1) drop(network, names, name);
      else names.set(name, attempts.toSpliced(index, 1));
    },
  };
}
