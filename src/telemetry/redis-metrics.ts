import type { SharedChange } from '../model/change-log.ts';
import type { InstanceFacts } from '../redis/instances.ts';
import type { RedisOutcome } from '../redis/connect-redis.ts';
import {
  type CounterFamily,
  createCounterFamily,
  createHistogramFamily,
  headText,
  type HistogramFamily,
} from './metric-families.ts';
import { type MetricEntry, METRICS } from './metric-list.ts';

/** The metrics of the state that gateways share. They exist only if Redis is configured. */
export interface RedisMetrics {
  /** Counts a command. */
  commanded(outcome: RedisOutcome, milliseconds: number): void;
  /** Counts a change that was applied. `own` is true if this gateway made it. */
  changed(kind: SharedChange['kind'], own: boolean): void;
  /** Connects the gauges to their sources. */
  watch(sources: RedisSources): void;
  /** Returns the sources of the gauges. Undefined before `watch` is called. */
  sources(): RedisSources | undefined;
  readonly families: readonly (CounterFamily | HistogramFamily)[];
  readonly series: number;
  /** Returns these metrics in the exposition format. */
  text(): string;
}

interface RedisSources {
  readonly isAvailable: () => boolean;
  /** Returns for how long this gateway may have been missing other gateways' changes, in seconds. */
  readonly unsyncedSeconds: () => number;
  /** Returns all gateways that use the same Redis server and prefix. */
  readonly instances: () => readonly InstanceFacts[];
  /** Returns the counts of the pages that gateways share. */
  readonly sharedPages: () => SharedPageCounts;
}

/**
 * For shared pages: the number of lookups by result, of requests that waited for another gateway, and of waiting
 * requests that received the page.
 */
export type SharedPageCounts = Readonly<Record<(typeof RESULTS)[number] | 'waits' | 'avoided', number>>;

const RESULTS = ['hit', 'miss', 'invalid', 'away', 'error'] as const;

/**
 * Upper bounds in seconds. A server on the same network responds within the first bound. By default, requests wait
 * 0.25 s at most.
 */
const COMMAND_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.25, 1] as const;
const OUTCOMES = { ok: true, refused: true, timeout: true, failed: true, skipped: true } satisfies Record<
  RedisOutcome,
  true
>;
const KINDS = { purge: true, demote: true, forget: true, reread: true, baseline: true } satisfies Record<
  SharedChange['kind'],
  true
>;

/** Returns the number of distinct values of each property among the gateways. */
const variants = (instances: readonly InstanceFacts[]) =>
  PROPERTIES.map((property) => {
    const values = new Set(instances.map((instance) => instance[property]));
    return `${METRICS.fleetVariants.name}{property="${property}"} ${values.size}\n`;
  });

/** The properties that should have the same value on all gateways. */
const PROPERTIES = ['version', 'contract', 'configuration', 'baseline'] as const;

/** Creates the metrics for shared state. */
export function createRedisMetrics(): RedisMetrics {
  const commands = createCounterFamily(METRICS.redisCommands, [Object.keys(OUTCOMES)]);
  const sent = Object.keys(OUTCOMES).filter((outcome) => outcome !== 'skipped');
  const duration = createHistogramFamily(METRICS.redisDuration, sent, COMMAND_BUCKETS);
  const changes = createCounterFamily(METRICS.sharedChanges, [Object.keys(KINDS), ['sent', 'received']]);
  let sources: RedisSources | undefined;
  return {
    commanded(outcome, milliseconds) {
      commands.inc(outcome);
      duration.observe(outcome, milliseconds / 1000);
    },
    changed: (kind, own) => changes.inc(kind, own ? 'sent' : 'received'),
    watch: (given) => void (sources = given),
    sources: () => sources,
    families: [commands, duration, changes],
    series: commands.series + duration.series + changes.series + RESULTS.length + PROPERTIES.length + 5,
    text() {
      const pages = sources?.sharedPages();
      const instances = sources?.instances() ?? [];
      const { name } = METRICS.sharedCache;
      return [
        single(METRICS.redisUp, Number(sources?.isAvailable() ?? false)),
        single(METRICS.unsynced, sources?.unsyncedSeconds() ?? 0),
        commands.text(),
        duration.text(),
        changes.text(),
        headText(METRICS.sharedCache),
        ...RESULTS.map((result) => `${name}{result="${result}"} ${pages?.[result] ?? 0}\n`),
        single(METRICS.sharedWaits, pages?.waits ?? 0),
        single(METRICS.sharedAvoided, pages?.avoided ?? 0),
        single(METRICS.fleetInstances, instances.length),
        headText(METRICS.fleetVariants),
        ...variants(instances),
      ].join('');
    },
  };
}

const single = (entry: MetricEntry, value: number) => `${headText(entry)}${entry.name} ${value}\n`;
