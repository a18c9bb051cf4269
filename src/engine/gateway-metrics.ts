import type { Logger } from 'pino';
import type { Clock } from '../lib/clock.ts';
import { packageVersion } from '../lib/package-root.ts';
import type { PageCache } from './cache/memory-pages.ts';
import type { SharedPages } from './cache/shared-pages.ts';
import type { Settings } from './config/settings.ts';
import { configurationDigest, type Start } from './load-start.ts';
import type { Acceptance } from './model/acceptance.ts';
import { type Operation, termsOf } from './model/operation.ts';
import type { Service } from './model/service.ts';
import { MISSING_ACCOUNT, MISSING_OWNERSHIP, MISSING_SPELLING } from './permissions/decide.ts';
import type { CompiledGateway } from './pipeline/compiled-gateway.ts';
import type { GatewayControls } from './running-gateway.ts';
import type { Sharing } from './sharing/sharing.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';
import type { RedisMetrics } from './telemetry/redis-metrics.ts';
import type { MetricsOptions } from './telemetry/request-metrics.ts';
import type { MetricRow } from './telemetry/stored-metric.ts';
import type { Upstreams } from './upstream/upstreams.ts';

/** What the metrics use. */
export interface MetricsNeeds {
  readonly settings: Settings;
  readonly start: Start;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly controls: GatewayControls;
  readonly acceptance: Acceptance;
  readonly sharing: Sharing;
  readonly sharedPages: SharedPages;
  readonly upstreams: Upstreams;
  readonly redisMetrics: RedisMetrics;
  current(): { readonly cache: PageCache; readonly gateway: Pick<CompiledGateway, 'plans'> } | undefined;
}

/** The metrics, connected to everything that they show. */
export const metrics: Service<Metrics, MetricsNeeds> = {
  start({ settings, start, clock, logger, acceptance, ...sources }) {
    const options = metricsOptions(settings, start, acceptance, clock());
    const created = createMetrics(options, start.redis && sources.redisMetrics);
    if (created.foldedOperations() > 0)
      logger.warn(
        { series: created.seriesCount(), operations: created.foldedOperations() },
        'the contract has too many operations for the metrics: the last ones are counted together as folded',
      );
    connect(created, sources);
    return created;
  },
  use: (created, { settings, start, acceptance, clock }) =>
    created.configure(metricsOptions(settings, start, acceptance, clock())),
};

type MetricsSources = Pick<
  MetricsNeeds,
  'controls' | 'current' | 'redisMetrics' | 'sharedPages' | 'sharing' | 'upstreams'
>;

function connect(
  created: Metrics,
  { controls, current, redisMetrics, sharedPages, sharing, upstreams }: MetricsSources,
): void {
  redisMetrics.watch({
    isAvailable: () => sharing.status()?.available ?? false,
    unsyncedSeconds: () => sharing.status()?.unsyncedSeconds ?? 0,
    sharedPages: sharedPages.counts,
    instances: sharing.instances.list,
  });
  // The addresses come from the configuration, so their number is limited.
  const addresses = () => upstreams.current.health().addresses;
  created.watch({
    ready: () => controls.readiness().ready,
    operationChecks: (id) => current()?.gateway.plans.get(id)?.checks,
    upstreamInFlight: () => upstreams.stats().inFlight,
    upstreamQueued: () => upstreams.stats().queued,
    upstreamStreams: () => upstreams.stats().streams,
    upstreamRetries: () => upstreams.stats().retries,
    limitsExceeded: () => upstreams.stats().limitsExceeded,
    upstreamHealthy: () => upstreams.current.health().status !== 'failing',
    addressHealthy: () =>
      addresses().map(({ address, state, probe }) => [[address], Number(state === 'healthy' && probe !== 'failed')]),
    addressRequests: () =>
      addresses().flatMap(({ address, requests }) =>
        Object.entries(requests).map(([outcome, count]): MetricRow => [[address, outcome], count]),
      ),
    upstreamCircuitOpen: () => upstreams.stats().circuit === 'open',
    cacheEntries: () => current()?.cache.stats().entries,
    cacheBytes: () => current()?.cache.stats().bytes,
  });
}

/** Returns the metrics options for a configuration that was loaded at `loadedAt`, in epoch milliseconds. */
function metricsOptions(
  settings: Settings,
  start: Start,
  { isAccepted }: Pick<Acceptance, 'isAccepted'>,
  loadedAt: number,
): MetricsOptions {
  const { contract } = start;
  return {
    operations: contract.operations,
    permissions: permissionLabels(settings, contract.operations),
    isAccepted: ({ operation, upstream }, violation) => isAccepted(operation, upstream?.status, violation),
    mode: settings.mode.name,
    checks: settings.checks,
    version: packageVersion(),
    contractVersion: contract.version,
    featureErrors: settings.features.flatMap(({ configurable: { errors = [] } }) => errors.map(({ code }) => code)),
    release: settings.release,
    // The console changes the accepted violations without a reload, so the digest is computed for each scrape.
    configurationHash: () => configurationDigest(settings, start),
    loadedAt,
    exemplars: start.sampling !== undefined,
  };
}

/**
 * Returns the names of all permission requirements that can be reported as missing. The names come from the contract
 * and the configuration, never from a request.
 */
export function permissionLabels(
  { undocumented }: Pick<Settings, 'undocumented'>,
  operations: readonly Pick<Operation, 'requires'>[],
): string[] {
  const required = operations.flatMap(({ requires }) => (requires === undefined ? [] : termsOf(requires)));
  const allowed = undocumented.allow.flatMap(({ permission }) => permission ?? []);
  const names = [...required.map(({ name }) => name), ...allowed];
  return [...new Set([...names.sort(), MISSING_OWNERSHIP, MISSING_ACCOUNT, MISSING_SPELLING])];
}
