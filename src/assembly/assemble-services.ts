import type { Trace } from '../model/trace.ts';
import { createTraceRecorder, type TraceObserver } from '../http/public-handler.ts';
import { toCauseLine } from '../privacy/cause-line.ts';
import type { DestinationStream, Logger } from 'pino';
import { type AudienceGuard, createAudienceGuard } from '../cache/audience.ts';
import { createPageCache, type PageCache } from '../cache/page-cache.ts';
import { observesLimits, type Settings } from '../config/settings.ts';
import { packageVersion } from '../files/package-root.ts';
import type { Authenticator } from '../identity/authenticator.ts';
import type { Ladder } from '../ladder/create-ladder.ts';
import type { LadderFile } from '../ladder/ladder-file.ts';
import type { IsAccepted } from '../ladder/ladder-rows.ts';
import type { Ledger } from '../ledger/record/create-ledger.ts';
import { createKindOf, type KindOf } from '../ledger/record/fingerprint.ts';
import type { Clock } from '../lib/clock.ts';
import { isOutage } from '../model/ledger-entry.ts';
import type { Operation } from '../model/operation.ts';
import type { Violation } from '../model/violation.ts';
import { createPageCounts, type PageCounts } from '../paging/page-counts.ts';
import { MISSING_ACCOUNT, MISSING_OWNERSHIP } from '../permissions/decide.ts';
import { createAuthorLookup, createOwnership, type Ownership } from '../permissions/ownership.ts';
import { termsOf } from '../permissions/vocabulary.ts';
import type { ShadowContract } from '../pipeline/shadow-contract.ts';
import { createLookup, type Lookup } from '../pipeline/lookup.ts';
import { createAccessLog, createLogger } from '../telemetry/logs.ts';
import { createMetrics, type Metrics } from '../telemetry/metrics.ts';
import { createTrafficHistory, type TrafficHistory } from '../telemetry/traffic-history.ts';
import { createUpstream, type Upstream } from '../upstream/create-upstream.ts';
import type { CircuitChange } from '../upstream/upstream-gate.ts';
import { assembleLadder } from './assemble-ladder.ts';
import { assembleLedger } from './assemble-ledger.ts';
import { createAuthenticator } from './create-authenticator.ts';
import { createLearning, type Learning } from './learning.ts';
import type { Start } from './load-start.ts';
import { assembleShadow } from './watch-shadow.ts';

/** System facilities that tests and embedding programs can replace. */
export interface AssemblyParts {
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The stream to which log lines are written. */
  readonly logStream: DestinationStream;
  /** Returns a random number x (0 ≤ x < 1). It decides whether a hit on a shared page triggers a comparison. */
  readonly random: () => number;
}

/** The gateway's services. They live until the gateway is closed. */
export interface Services {
  readonly logger: Logger;
  readonly upstream: Upstream;
  readonly cache: PageCache;
  readonly guard: AudienceGuard;
  readonly pageCounts: PageCounts;
  readonly ownership: Ownership;
  readonly lookUp: Lookup;
  readonly authenticator: Authenticator;
  readonly metrics: Metrics;
  readonly traffic: TrafficHistory;
  readonly ledger: Ledger;
  /** Learns from traffic. Undefined unless `learn.traffic` is on. */
  readonly learning: Learning | undefined;
  /** Returns the fingerprint of a violation and the properties from which it is computed. */
  readonly kindOf: KindOf;
  /** Returns whether the baseline accepts a violation. `status` is the upstream's status. */
  readonly isAccepted: (operation: string | undefined, status: number | undefined, violation: Violation) => boolean;
  /** Checks traffic against the shadow contract. Undefined if no shadow contract is configured. */
  readonly shadow: ShadowContract | undefined;
  readonly ladder: Ladder;
  readonly ladderFile: LadderFile;
  /** Passes the trace of a finished request to all trace observers. */
  readonly recordTrace: (trace: Trace) => void;
}

/** Creates the services. No connection or listener is opened yet. */
export function assembleServices(settings: Settings, start: Start, parts: AssemblyParts): Services {
  const { clock, logStream, random } = parts;
  const logger = createLogger({ level: settings.logging.level, clock, stream: logStream });
  const upstream = createUpstream(
    start.address,
    settings.upstream,
    clock,
    (change) => logCircuit(logger, settings.upstream.circuit.openSeconds, change),
    observesLimits(settings),
  );
  const lookUp = createLookup(upstream);
  const cache = createPageCache(settings.cache, clock);
  const kindOf = createKindOf();
  const { baseline } = start;
  const accepts: IsAccepted = (entry) =>
    baseline !== undefined && !isOutage(entry) && baseline.isAccepted(entry.fingerprint, clock());
  const isAccepted: Services['isAccepted'] = (operation, upstreamStatus, violation) => {
    if (baseline === undefined) return false;
    const { fingerprint, status } = kindOf(operation, upstreamStatus, violation);
    return accepts({ fingerprint, check: violation.check, status });
  };
  const ledger = assembleLedger(settings, start, { clock, kindOf, logger });
  const metrics = createMetrics({
    operations: start.contract.operations,
    permissions: permissionLabels(settings, start.contract.operations),
    isAccepted: ({ operation, upstream: exchanged }, violation) => isAccepted(operation, exchanged?.status, violation),
    mode: settings.mode.name,
    checks: settings.checks,
    version: packageVersion(),
    contractVersion: start.contract.version,
    release: settings.release,
  });
  if (metrics.foldedOperations() > 0)
    logger.warn(
      { series: metrics.seriesCount(), operations: metrics.foldedOperations() },
      'the contract has too many operations for the metrics: the last ones are counted together as folded',
    );
  metrics.watch({
    upstreamInFlight: () => upstream.stats().inFlight,
    upstreamQueued: () => upstream.stats().queued,
    upstreamStreams: () => upstream.stats().streams,
    limitsExceeded: () => upstream.stats().limitsExceeded,
    upstreamCircuitOpen: () => upstream.stats().circuit === 'open',
    cacheEntries: () => cache.stats().entries,
    cacheBytes: () => cache.stats().bytes,
    ledgerEntries: () => ledger.size(),
    ledgerDropped: () => ledger.dropped(),
  });
  const { ladder, file: ladderFile } = assembleLadder(settings, start, { clock, logger, metrics, isAccepted: accepts });
  const { ownership } = settings.permissions;
  const shadow = assembleShadow(settings, start, { metrics, ledger });
  const accessLog = createAccessLog({
    operations: start.contract.operations,
    level: settings.logging.level,
    principalNames: settings.logging.principalNames,
    clock,
    stream: logStream,
    fingerprintOf: (trace, violation) => kindOf(trace.operation, trace.upstream?.status, violation).fingerprint,
  });
  const observers: TraceObserver[] = [
    { name: 'metrics', record: metrics.record },
    { name: 'ledger', record: ledger.record },
    { name: 'ladder', record: ladder.record },
    ...(shadow === undefined ? [] : [{ name: 'shadow contract', record: shadow.requestFinished }]),
    { name: 'access log', record: accessLog.record },
  ];
  return {
    logger,
    upstream,
    cache,
    guard: createAudienceGuard({
      sampleShared: settings.cache.sampleShared,
      random,
      onDemoted: (operation) =>
        logger.warn({ operation }, 'responses differ between callers: the pages are stored per caller from now on'),
    }),
    pageCounts: createPageCounts(settings.pageBounds, clock),
    ownership: createOwnership(ownership, clock, createAuthorLookup(ownership, lookUp)),
    lookUp,
    authenticator: createAuthenticator(settings, start.roles, upstream, clock),
    metrics,
    traffic: createTrafficHistory(metrics.traffic, clock),
    ledger,
    learning: start.learned && createLearning(settings, start.learned, clock, logger),
    kindOf,
    isAccepted,
    shadow,
    ladder,
    ladderFile,
    recordTrace: createTraceRecorder(observers, (observer, error) =>
      logger.error({ observer, cause: toCauseLine(error) }, 'a trace could not be recorded'),
    ),
  };
}

/**
 * Returns the names of all requirements that a caller may fail to meet. They come from the contract and the
 * configuration, never from a request.
 */
export function permissionLabels(
  { undocumented }: Pick<Settings, 'undocumented'>,
  operations: readonly Pick<Operation, 'requires'>[],
): string[] {
  const required = operations.flatMap(({ requires }) => (requires === undefined ? [] : termsOf(requires)));
  const allowed = undocumented.allow.flatMap(({ permission }) => permission ?? []);
  const names = [...required.map(({ name }) => name), ...allowed];
  return [...new Set([...names.sort(), MISSING_OWNERSHIP, MISSING_ACCOUNT])];
}

/** Logs when the circuit opens, including the last failure, and when it closes. */
function logCircuit(logger: Logger, openSeconds: number, { opened, openMs, failure }: CircuitChange): void {
  if (opened) {
    const fields = { circuit: 'open', ...failure, trialAfterSeconds: openSeconds };
    logger.warn(fields, 'the circuit opened: requests to the upstream are paused until a trial succeeds');
  } else {
    logger.info({ circuit: 'closed', openForSeconds: openMs / 1000 }, 'the circuit closed: a trial succeeded');
  }
}
