import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { AudienceGuard } from './cache/audience-guard.ts';
import type { PageCache } from './cache/memory-pages.ts';
import { settingsDigest } from './config/changed-keys.ts';
import type { Settings } from './config/settings.ts';
import { packageVersion } from '../lib/package-root.ts';
import type { Records } from './feature.ts';
import type { RunningGateway } from './running-gateway.ts';
import type { RunningFeatures } from './run-features.ts';
import type { KindOf } from './model/violation-kind.ts';
import type { Clock } from '../lib/clock.ts';
import type { BaselineChange } from './model/change-log.ts';
import { type Operation, termsOf } from './model/operation.ts';
import type { OperatorAction } from './model/operator-action.ts';
import type { PageCounts } from './paging/page-counts.ts';
import { MISSING_ACCOUNT, MISSING_OWNERSHIP, MISSING_SPELLING } from './permissions/decide.ts';
import type { CompiledGateway } from './pipeline/compiled-gateway.ts';
import type { RequestRepeater } from './pipeline/repeat-request.ts';
import { createNameTag } from './privacy/describe-value.ts';
import type { ChangeListener } from './sharing/sharing.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';
import type { MetricsOptions } from './telemetry/request-metrics.ts';
import type { MetricRow } from './telemetry/stored-metric.ts';
import type { Sampling } from './telemetry/trace-context.ts';
import type { Upstream } from './upstream/create-upstream.ts';
import type { Acceptance, IsAccepted } from './model/acceptance.ts';
import { emptySnapshot } from './model/ledger-entry.ts';
import { createUpstreams, type Upstreams } from './upstream/upstreams.ts';
import type { Start } from './load-start.ts';
import type { Shared } from './open-shared.ts';

/** The services that exist until the gateway is closed. A reload changes only their options. */
export interface LastingServices {
  readonly logger: Logger;
  readonly upstreams: Upstreams;
  readonly metrics: Metrics;
  /** The records of violations and traffic. Empty if no feature keeps them. */
  readonly records: Records;
  /** Tells the features about an operator's action. Resolves to false if a feature could not store it. */
  readonly acted: (action: OperatorAction) => Promise<boolean>;
  /** Returns the latest actions of operators on all gateways, oldest first. */
  readonly actions: () => Promise<readonly OperatorAction[]>;
  /** Returns a violation's fingerprint and the properties from which it is computed. */
  readonly kindOf: KindOf;
  /** Returns the keyed hash that replaces the principal's name in the log. */
  readonly nameTag: ReturnType<typeof createNameTag>;
  /**
   * Removes all pages and page counts, or only those with any of the given tags. Returns the number of pages removed in
   * this process. If gateways share state, returns a promise that resolves to this number once the others can see the
   * purge.
   */
  readonly purge: (tags: readonly string[] | 'all') => number | Promise<number>;
  readonly instance: string;
  /** What this gateway shares with others. */
  readonly shared: Shared;
  /** The replaceable services that the long-lived services use for new requests. They change only when settings are applied. */
  readonly live: Live;
}

interface Live {
  cache: PageCache;
  guard: AudienceGuard;
  pageCounts: PageCounts;
  baseline: Start['baseline'];
  /** The gateway as operators see it. Undefined until it is assembled. */
  running: RunningGateway | undefined;
  /** Repeats requests for features. Undefined until the gateway is compiled. */
  repeater: RequestRepeater | undefined;
  /** The compiled gateway. Undefined until then. */
  gateway: Pick<CompiledGateway, 'plans' | 'recompile'> | undefined;
  /** Returns whether the accepted violations include a recorded one. */
  accepts: IsAccepted;
  /** The features that new requests use. Undefined until settings are applied. */
  features: RunningFeatures | undefined;
}

/** The dependencies of the long-lived services, other than the settings. */
interface First extends Acceptance {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly upstream: Upstream;
  readonly cache: PageCache;
  readonly guard: AudienceGuard;
  readonly pageCounts: PageCounts;
  readonly kindOf: KindOf;
  /** Determines which traces are sampled. Undefined if none are. */
  readonly sampling: Sampling | undefined;
  readonly shared: Shared;
}

/** Creates the services that exist until the gateway is closed. */
export function createLastingServices(settings: Settings, start: Start, first: First): LastingServices {
  const { clock, logger, kindOf, cache, guard, pageCounts, shared } = first;
  const live: Live = {
    cache,
    guard,
    pageCounts,
    baseline: start.baseline,
    running: undefined,
    repeater: undefined,
    gateway: undefined,
    accepts: first.accepts,
    features: undefined,
  };
  const upstreams = createUpstreams(first.upstream);
  const instance = settings.instance ?? `${hostname()}-${randomBytes(2).toString('hex')}`;
  const purge = (tags: readonly string[] | 'all') => {
    if (tags === 'all') live.pageCounts.dropAll();
    else live.pageCounts.drop(tags);
    return tags === 'all' ? live.cache.purgeAll() : live.cache.purge(tags);
  };
  const { changes } = shared.sharing;
  changes.listen(changesOf(purge, acceptanceFollower(live, first)));
  shared.demotions.applyTo(live);
  const metrics = createMetrics(metricsOptions(settings, start, first, clock()), shared.metrics);
  if (metrics.foldedOperations() > 0)
    logger.warn(
      { series: metrics.seriesCount(), operations: metrics.foldedOperations() },
      'the contract has too many operations for the metrics: the last ones are counted together as folded',
    );
  // The addresses come from the configuration, so their number is limited.
  const addresses = () => upstreams.current.health().addresses;
  metrics.watch({
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
    cacheEntries: () => live.cache.stats().entries,
    cacheBytes: () => live.cache.stats().bytes,
  });
  const acted = async (action: OperatorAction) => live.features?.acted(action) ?? true;
  return {
    logger,
    upstreams,
    metrics,
    records: latestRecords(live, clock),
    acted,
    actions: async () => live.features?.actions() ?? [],
    kindOf,
    nameTag: createNameTag(),
    instance,
    shared,
    purge(tags) {
      const pages = purge(tags);
      return changes.append({ kind: 'purge', tags })?.then(() => pages) ?? pages;
    },
    live,
  };
}

/** Returns the records of the feature that keeps them. They stay the same through reloads. */
function latestRecords(live: Live, clock: Clock): Records {
  const current = () => live.features?.records;
  return {
    open: async () => current()?.open(),
    record: (trace) => current()?.record(trace),
    flush: async () => current()?.flush(),
    snapshot: async (query = {}) => current()?.snapshot(query) ?? emptySnapshot(query, clock()),
  };
}

/**
 * Returns a function that applies changes to the accepted violations that operators make on other gateways. Changes made
 * before this gateway started are ignored, because they may be older than the file it has read.
 */
function acceptanceFollower(live: Live, { clock, logger }: Pick<First, 'clock' | 'logger'>) {
  const startedAt = clock();
  return (change: BaselineChange) => {
    if (change.at < startedAt || live.baseline === undefined) return;
    const { file } = live.baseline;
    logger.info({ file, fingerprint: change.fingerprint }, 'another gateway has changed the baseline');
    live.baseline
      .adopt(change)
      .catch((error: unknown) => logger.error({ file, err: error }, 'a change to the baseline cannot be written'));
  };
}

/**
 * Returns a listener that applies purges made by any gateway and baseline changes made by other gateways. This
 * gateway's own purges are applied a second time when they appear in the log, because a page that another gateway
 * fetched before the purge may have been stored in the meantime.
 */
function changesOf(
  purge: (tags: readonly string[] | 'all') => number,
  followBaseline: (change: BaselineChange) => void,
): ChangeListener {
  return {
    apply(change, _number, own) {
      if (change.kind === 'baseline' && !own) followBaseline(change);
      if (change.kind === 'purge') purge(change.tags);
    },
    reset: () => void purge('all'),
  };
}

/** Returns the metrics options for a configuration that was loaded at `loadedAt`, in epoch milliseconds. */
export function metricsOptions(
  settings: Settings,
  start: Start,
  { isAccepted, sampling }: Pick<Acceptance, 'isAccepted'> & { readonly sampling: Sampling | undefined },
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
    exemplars: sampling !== undefined,
  };
}

/**
 * Returns a digest of the configuration in use and of the files that it names. Processes with equal configurations have
 * the same digest, so operators can see whether a reload has reached every process.
 */
export function configurationDigest(settings: Settings, start: Start): string {
  const { contract, prepared, roles, baseline } = start;
  return settingsDigest(settings, [
    contract.version,
    [...prepared].map(([name, { version }]) => [name, version]),
    [...roles.roles],
    roles.accounts,
    baseline?.read(),
  ]);
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
