import type { SharedChange } from '../model/change-log.ts';
import type { InstanceFacts } from '../sharing/sharing.ts';
import type { RedisOutcome } from '../sharing/redis/connect-redis.ts';
import { type MetricEntry, REDIS_METRICS } from './metric-list.ts';
import { createStoredCounter } from './stored-counter.ts';
import { createStoredHistogram } from './stored-histogram.ts';
import { createReadMetric, type StoredMetric } from './stored-metric.ts';

/** The metrics for state shared by gateways. They exist only if Redis is configured. */
export interface RedisMetrics {
  /** Counts a command sent to Redis. */
  commanded(outcome: RedisOutcome, milliseconds: number): void;
  /** Counts an applied change. `own` is true if this gateway made the change. */
  changed(kind: SharedChange['kind'], own: boolean): void;
  /** Connects the gauges to their sources. */
  watch(sources: RedisSources): void;
  readonly all: readonly StoredMetric[];
}

interface RedisSources {
  readonly isAvailable: () => boolean;
  /** Returns how long, in seconds, this gateway may have been missing other gateways' changes. */
  readonly unsyncedSeconds: () => number;
  /** Returns all gateways that use the same Redis server and prefix. */
  readonly instances: () => readonly InstanceFacts[];
  /** Returns the statistics on pages shared by gateways. */
  readonly sharedPages: () => SharedPageCounts;
}

/**
 * Statistics on shared pages: lookups by result, requests that waited for another gateway, and waiting requests that
 * received the page.
 */
type SharedPageCounts = Readonly<Record<(typeof RESULTS)[number] | 'waits' | 'avoided', number>>;

const RESULTS = ['hit', 'miss', 'invalid', 'forged', 'away', 'error'] as const;

/**
 * Upper bounds for command durations, in seconds. A server on the same network responds within the first bound. By
 * default, requests wait for at most 0.25 s.
 */
const COMMAND_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.25, 1] as const;
const OUTCOMES = { ok: true, refused: true, timeout: true, failed: true, skipped: true } satisfies Record<
  RedisOutcome,
  true
>;
const KINDS = { purge: true, demote: true, forget: true, reread: true, side: true, baseline: true } satisfies Record<
  SharedChange['kind'],
  true
>;

/** The properties that should have the same value on all gateways. */
const PROPERTIES = ['version', 'contract', 'configuration', 'baseline'] as const;

/** Creates the metrics for shared state. */
export function createRedisMetrics(): RedisMetrics {
  const commands = createStoredCounter(REDIS_METRICS.redisCommands, [Object.keys(OUTCOMES)]);
  const sent = Object.keys(OUTCOMES).filter((outcome) => outcome !== 'skipped');
  const duration = createStoredHistogram(REDIS_METRICS.redisDuration, sent, COMMAND_BUCKETS);
  const changes = createStoredCounter(REDIS_METRICS.sharedChanges, [Object.keys(KINDS), ['sent', 'received']]);
  let sources: RedisSources | undefined;
  const pages = (name: keyof SharedPageCounts) => sources?.sharedPages()[name] ?? 0;
  const instances = () => sources?.instances() ?? [];
  /** Returns the number of distinct values that a property has across all gateways. */
  const variants = (property: (typeof PROPERTIES)[number]) => new Set(instances().map((one) => one[property])).size;
  return {
    commanded(outcome, milliseconds) {
      commands.inc(outcome);
      duration.observe(outcome, milliseconds / 1000);
    },
    changed: (kind, own) => changes.inc(kind, own ? 'sent' : 'received'),
    watch: (given) => void (sources = given),
    all: [
      read(REDIS_METRICS.redisUp, () => Number(sources?.isAvailable() ?? false)),
      read(REDIS_METRICS.unsynced, () => sources?.unsyncedSeconds() ?? 0),
      commands,
      duration,
      changes,
      createReadMetric(REDIS_METRICS.sharedCache, () => RESULTS.map((result) => [[result], pages(result)])),
      read(REDIS_METRICS.sharedWaits, () => pages('waits')),
      read(REDIS_METRICS.sharedAvoided, () => pages('avoided')),
      read(REDIS_METRICS.fleetInstances, () => instances().length),
      createReadMetric(REDIS_METRICS.fleetVariants, () => PROPERTIES.map((name) => [[name], variants(name)])),
    ],
  };
}

const read = (entry: MetricEntry, value: () => number) => createReadMetric(entry, () => [[[], value()]]);
