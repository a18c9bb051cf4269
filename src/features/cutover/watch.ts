import type { Clock } from '../../lib/clock.ts';
import type { SideName } from './stays.ts';
import type { ReturnOptions } from './options.ts';

/** What is known of an exchange with one of the servers. */
export interface Sample {
  readonly side: SideName;
  /** Undefined for an undocumented path. */
  readonly operation: string | undefined;
  readonly failed: boolean;
  readonly violated: boolean;
  readonly refused: boolean;
  /** How long the server took, in seconds. Undefined if it did not respond. */
  readonly seconds: number | undefined;
}

/** A limit that the new server exceeds. */
export interface Exceeded {
  readonly limit: 'errors' | 'violations' | 'refusals' | 'latency' | 'differences';
  /** Undefined for all operations together. */
  readonly operation: string | undefined;
  readonly words: string;
}

/** Compares the two servers in the latest period. */
export interface Watch {
  /** Counts an exchange. Returns a limit that the new server now exceeds. */
  take(sample: Sample): Exceeded | undefined;
  /** Counts a difference that was found. */
  difference(): Exceeded | undefined;
  /** Forgets everything about the new server, because what was counted belongs to an earlier decision. */
  forget(): void;
  /** Returns the counts of the latest period, for operators. */
  counts(): readonly WatchedCounts[];
}

/** The counts of one server. `operation` is undefined for all operations together. */
export interface WatchedCounts extends Totals {
  readonly operation: string | undefined;
  readonly side: SideName;
  /** In seconds. Undefined if there is no response. */
  readonly latency: number | undefined;
}

interface Totals {
  exchanges: number;
  failed: number;
  violated: number;
  refused: number;
}

/** The maximum number of exchanges per operation and server that count, so that memory and the time to sort are bounded. */
const MAX_SAMPLES = 2_000;

/** Latencies are compared at most this often, in milliseconds, because they have to be sorted. */
const LATENCY_MS = 250;

/** The new server must be too slow for this part of the period. */
const SLOW_PART = 4;

/** Creates the watch. Exchanges count by operation, and those of all operations together. */
export function createWatch(options: ReturnOptions, operations: readonly string[], clock: Clock): Watch {
  const windowMs = options.windowSeconds * 1000;
  const pairs = new Map([undefined, ...operations].map((operation) => [operation, createPair(windowMs)]));
  let differences: number[] = [];

  const judge = (operation: string | undefined, pair: Pair, now: number) => {
    const counted = pair.new.totals(now);
    if (counted.exchanges < options.minimum) {
      pair.slowSince = Infinity;
      return undefined;
    }
    const before = pair.old.totals(now);
    const found = judgeShares(counted, before, options);
    if (found !== undefined) return { operation, ...found };
    const { factor, floorMs, measure } = options.latency;
    // Operations take different times, so only the same operation can be compared.
    if (operation === undefined || factor === 0 || now - pair.lastLatencyAt < LATENCY_MS) return undefined;
    pair.lastLatencyAt = now;
    const slow = pair.new.latency(now, measure);
    const usual = before.exchanges < options.minimum ? undefined : pair.old.latency(now, measure);
    const isSlow = slow !== undefined && usual !== undefined && slow * 1000 > floorMs && slow > usual * factor;
    pair.slowSince = isSlow ? Math.min(pair.slowSince, now) : Infinity;
    // A short pause of the gateway itself makes a few exchanges slow, and must not move anybody.
    if (!isSlow || now - pair.slowSince < windowMs / SLOW_PART) return undefined;
    const words = `${measure} ${msOf(slow)}, on the old server ${msOf(usual)}`;
    return { operation, limit: 'latency' as const, words };
  };

  return {
    take({ side, operation, ...sample }) {
      if (!pairs.has(operation)) return undefined;
      const now = clock();
      for (const id of new Set([operation, undefined])) pairs.get(id)?.[side].add({ ...sample, at: now });
      if (side === 'old') return undefined;
      for (const id of new Set([operation, undefined])) {
        const pair = pairs.get(id);
        const found = pair && judge(id, pair, now);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    difference() {
      if (options.differences === 0) return undefined;
      const now = clock();
      differences = [...differences.filter((at) => now - at < windowMs), now].slice(-options.differences);
      if (differences.length < options.differences) return undefined;
      differences = [];
      const words = `${options.differences} differences in ${options.windowSeconds} s`;
      return { limit: 'differences', operation: undefined, words };
    },
    forget() {
      for (const pair of pairs.values()) pair.new = createWindow(windowMs);
      differences = [];
    },
    counts() {
      const now = clock();
      return [...pairs].flatMap(([operation, pair]) =>
        (['old', 'new'] as const).map((side): WatchedCounts => {
          const latency = pair[side].latency(now, options.latency.measure);
          return Object.assign(pair[side].totals(now), { operation, side, latency });
        }),
      );
    },
  };
}

function judgeShares(counted: Totals, before: Totals, options: ReturnOptions): Omit<Exceeded, 'operation'> | undefined {
  const shareOf = (totals: Totals, what: 'failed' | 'violated' | 'refused') =>
    totals.exchanges === 0 ? 0 : totals[what] / totals.exchanges;
  const words = (what: 'failed' | 'violated' | 'refused') =>
    `${counted[what]} of ${counted.exchanges}, on the old server ${before[what]} of ${before.exchanges}`;
  // A few exchanges with the old server say little, so what is missing up to the minimum counts as good.
  const known = { ...before, exchanges: Math.max(before.exchanges, options.minimum) };
  const exceeds = (what: 'failed' | 'violated', most: number) =>
    shareOf(counted, what) > most && shareOf(counted, what) > shareOf(known, what);
  if (exceeds('failed', options.errors)) return { limit: 'errors', words: words('failed') };
  if (exceeds('violated', options.violations)) return { limit: 'violations', words: words('violated') };
  // Refusals are usually the clients' own mistakes, so they mean something only in comparison.
  if (before.exchanges < options.minimum) return undefined;
  if (shareOf(counted, 'refused') > shareOf(before, 'refused') + options.refusals)
    return { limit: 'refusals', words: words('refused') };
  return undefined;
}

const msOf = (seconds: number) => `${Math.round(seconds * 1000)} ms`;

interface Pair {
  readonly old: Window;
  new: Window;
  lastLatencyAt: number;
  /** Since when the new server is too slow. Infinity if it is not. */
  slowSince: number;
}

const createPair = (windowMs: number): Pair => ({
  old: createWindow(windowMs),
  new: createWindow(windowMs),
  lastLatencyAt: -Infinity,
  slowSince: Infinity,
});

type Kept = Omit<Sample, 'side' | 'operation'> & { readonly at: number };

/** The exchanges of the latest period. */
interface Window {
  add(sample: Kept): void;
  totals(now: number): Totals;
  latency(now: number, measure: ReturnOptions['latency']['measure']): number | undefined;
}

function createWindow(windowMs: number): Window {
  const ring: Kept[] = [];
  /** The index of the oldest exchange that counts. */
  let start = 0;
  const totals: Totals = { exchanges: 0, failed: 0, violated: 0, refused: 0 };
  const count = ({ failed, violated, refused }: Kept, by: 1 | -1) => {
    totals.exchanges += by;
    if (failed) totals.failed += by;
    if (violated) totals.violated += by;
    if (refused) totals.refused += by;
  };
  const drop = () => {
    const oldest = ring[start];
    if (oldest !== undefined) count(oldest, -1);
    start += 1;
    if (start < MAX_SAMPLES) return;
    ring.splice(0, start);
    start = 0;
  };
  const expire = (now: number) => {
    // A clock that was set back must not keep old exchanges for long.
    for (let one = ring[start]; one !== undefined && Math.abs(now - one.at) >= windowMs; one = ring[start]) drop();
  };
  return {
    add(sample) {
      if (ring.length - start >= MAX_SAMPLES) drop();
      ring.push(sample);
      count(sample, 1);
    },
    totals(now) {
      expire(now);
      return { ...totals };
    },
    latency(now, measure) {
      expire(now);
      const all = ring.slice(start).flatMap(({ seconds }) => seconds ?? []);
      if (all.length === 0) return undefined;
      if (measure === 'mean') return all.reduce((sum, one) => sum + one, 0) / all.length;
      const sorted = Float64Array.from(all).sort();
      return sorted[Math.ceil(sorted.length * (measure === 'p95' ? 0.95 : 0.99)) - 1];
    },
  };
}
