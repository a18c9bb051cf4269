import { createFairQueue } from '../../lib/fair-queue.ts';
import { createLruMap } from '../../lib/bounded-maps.ts';
import type { IdentityOptions, WorkBounds } from './identity-options.ts';

type FailureLimits = Pick<IdentityOptions['failures'], 'limit' | 'windowSeconds' | 'maxPairs'>;

/** Counts failed attempts for each combination of network and name. */
interface FailureLimiter {
  /**
   * Counts an attempt as failed before it is made, so that parallel attempts cannot exceed the limit. Returns how long
   * to wait if there have been too many failed attempts for this network and name, or if the network has tried too many
   * names.
   */
  begin(network: string, name: string, now: number): { readonly retryAfterSeconds: number } | undefined;
  /** Removes an attempt that `begin` counted at `now` but that turned out not to be a failure. */
  withdraw(network: string, name: string, now: number): void;
}

/**
 * The number of shares into which the table is divided. One network can fill at most one share, so a client that
 * invents names cannot displace other networks.
 */
const SHARES = 32;
/** The minimum number of names that each network can try, even if the table is small. */
const MIN_NAMES = 16;

/** Returns the number of names that a network can try within the window. */
export const namesPerNetwork = (maxPairs: number) =>
  Math.min(maxPairs, Math.max(MIN_NAMES, Math.floor(maxPairs / SHARES)));

/** The times of recent attempts, keyed by name. The most recently tried name is last. */
type Names = Map<string, readonly number[]>;

/**
 * Creates a limiter with a sliding window for each pair of network and name, in a table of limited size. A network that
 * has filled its share cannot try more names until one of its own pairs expires, so it cannot displace other networks'
 * counts. If many networks together overfill the table, the least recently used network is removed.
 */
export function createFailureLimiter(options: FailureLimits): FailureLimiter {
  const { limit, maxPairs } = options;
  const share = namesPerNetwork(maxPairs);
  const windowMs = options.windowSeconds * 1000;
  /** The networks in order of use. The most recently used network is last. */
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
      // Even a refused attempt counts as a use of the network's entry, so a network that keeps guessing is not removed.
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
      // A name without failures is removed, so that successful logins do not exhaust the network's share.
      if (attempts.length === 1) drop(network, names, name);
      else names.set(name, attempts.toSpliced(index, 1));
    },
  };
}

/** Limits failed logins per pair of network and name, and per name across all networks. */
export interface LoginLimiter extends FailureLimiter {
  /** Records a successful login. For `trustSeconds`, the limit per name does not apply to this network and name. */
  loggedIn(network: string, name: string, now: number): void;
}

/**
 * Creates the limiter for failed logins. The limit per name stops attacks on one name from many networks, each of which
 * stays below the limit for its own pair. Because anyone could use this limit to lock out the rightful user, it does
 * not apply to networks from which a login with the name recently succeeded. Nonexistent names are treated in the same
 * way, so the limits do not reveal which names exist. The tables have a limited size, and the least recently used entry
 * is removed first.
 */
export function createLoginLimiter(options: IdentityOptions['failures']): LoginLimiter {
  const { limitPerName, trustSeconds, maxPairs } = options;
  const windowMs = options.windowSeconds * 1000;
  const pairs = createFailureLimiter(options);
  const attemptsOf = createLruMap<string, readonly number[]>(maxPairs);
  const lastLogin = createLruMap<string, number>(maxPairs);
  return {
    begin(network, name, now) {
      const recent = (attemptsOf.get(name) ?? []).filter((at) => at > now - windowMs);
      const isTrusted = now - (lastLogin.get(pairOf(network, name)) ?? -Infinity) < trustSeconds * 1000;
      if (recent.length >= limitPerName && !isTrusted)
        return { retryAfterSeconds: Math.ceil(((recent.at(-limitPerName) ?? now) + windowMs - now) / 1000) };
      const limited = pairs.begin(network, name, now);
      // Only the latest `limitPerName` attempts affect the limit.
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

/** Limits how many tasks run at the same time. */
interface WorkGate {
  /**
   * Runs a task when a slot is free. If the queue is full, returns undefined without running the task. An `urgent` task
   * takes precedence and is never rejected, so callers must limit the number of urgent tasks.
   */
  run<T>(task: () => Promise<T>, urgent: boolean, network: string): Promise<T | undefined>;
}

/** A waiting task, with the functions that start or reject it. */
interface Waiting {
  readonly start: () => void;
  readonly reject: () => void;
}

/**
 * Creates a gate that runs up to `concurrency` tasks and queues up to `queue` more. The networks share the capacity
 * fairly: they take turns, and a single network can never occupy all slots. If the queue is full, a task from the
 * network with the most waiting tasks is rejected in favor of a network with fewer. A network that sends too many tasks
 * therefore delays only its own tasks.
 */
export function createWorkGate(bounds: WorkBounds): WorkGate {
  const { concurrency, queue } = bounds;
  const share = Math.max(1, concurrency - 1);
  const urgentTasks: (() => void)[] = [];
  const waiting = createFairQueue<Waiting>();
  const runningOf = new Map<string, number>();
  let running = 0;

  const mayRun = (network: string) => running < concurrency && (runningOf.get(network) ?? 0) < share;

  async function perform<T>(task: () => Promise<T>, network: string | undefined): Promise<T> {
    running += 1;
    if (network !== undefined) runningOf.set(network, (runningOf.get(network) ?? 0) + 1);
    try {
      return await task();
    } finally {
      running -= 1;
      if (network !== undefined) leave(network);
      startNext();
    }
  }

  function leave(network: string): void {
    const left = (runningOf.get(network) ?? 1) - 1;
    if (left === 0) runningOf.delete(network);
    else runningOf.set(network, left);
  }

  /** Passes a free slot directly to the next waiting task, so that a new task cannot take it first. */
  function startNext(): void {
    if (running >= concurrency) return;
    const urgent = urgentTasks.shift();
    if (urgent !== undefined) return urgent();
    waiting.next(mayRun)?.start();
  }

  /**
   * Makes room for a network's next task by rejecting a task from a network with more waiting tasks. Returns false if
   * there is no such network.
   */
  function makeRoom(network: string): boolean {
    if (waiting.size < queue) return true;
    const displaced = waiting.displace(network);
    displaced?.reject();
    return displaced !== undefined;
  }

  return {
    async run<T>(task: () => Promise<T>, urgent: boolean, network: string): Promise<T | undefined> {
      if (urgent ? running < concurrency : mayRun(network)) return perform(task, urgent ? undefined : network);
      if (urgent) {
        const { promise, resolve } = Promise.withResolvers<Promise<T>>();
        urgentTasks.push(() => resolve(perform(task, undefined)));
        return promise;
      }
      if (!makeRoom(network)) return undefined;
      const { promise, resolve } = Promise.withResolvers<Promise<T> | undefined>();
      waiting.add(network, { start: () => resolve(perform(task, network)), reject: () => resolve(undefined) });
      return promise;
    },
  };
}
