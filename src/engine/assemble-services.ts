import { isDeepStrictEqual } from 'node:util';
import type { DestinationStream, Logger } from 'pino';
import { type AudienceGuard, createAudienceGuard } from './cache/audience-guard.ts';
import { changingTags } from './cache/change-follower.ts';
import { createPageCache, type PageCache } from './cache/memory-pages.ts';
import { followChanges, isSharable } from './cache/shared-pages.ts';
import { observesLimits, type Settings } from './config/settings.ts';
import { createTraceRecorder, type TraceObserver } from './http/public-handler.ts';
import type { Authenticator } from './identity/create-authenticator.ts';
import { createLoginLimits } from './identity/login-limits.ts';
import { createKeyedHash } from './identity/verify-credential.ts';
import { createKindOf } from './model/violation-kind.ts';
import type { Feature } from './feature.ts';
import { pageStoreOf, runFeatures, type RunningFeatures, samplingOf } from './run-features.ts';
import type { Clock } from '../lib/clock.ts';
import type { HeaderPairs } from './model/header-pairs.ts';
import type { FieldPresence } from './model/release-statistics.ts';
import { comparisonTrace, type Trace } from './model/trace.ts';
import type { Violation } from './model/violation.ts';
import { createPageCounts, type PageCounts, type SharedPageCounts, sharePageCounts } from './paging/page-counts.ts';
import { createAuthorLookup, createOwnership, type FetchJson, type Ownership } from './permissions/ownership.ts';
import type { RequestRepeater } from './pipeline/repeat-request.ts';
import { createLookup } from './pipeline/stages/authorize.ts';
import { createFailingPages, type FailingPages } from './pipeline/stages/isolate-page.ts';
import { toCauseLine } from './privacy/cause-line.ts';
import type { Sharing } from './sharing/sharing.ts';
import { createAccessLog, createLogger } from './telemetry/logs.ts';
import type { Sampling } from './telemetry/trace-context.ts';
import type { AddressChange } from './upstream/pool/address-pool.ts';
import { createCredentialProbe } from './upstream/credential-probe.ts';
import { createUpstream, type Upstream } from './upstream/create-upstream.ts';
import { createSessions, type Sessions } from './upstream/sessions.ts';
import type { CircuitChange } from './upstream/upstream-gate.ts';
import { type Acceptance, createAcceptance, type IsAccepted } from './model/acceptance.ts';
import { openAuthenticator, type LoginMemory, refusesByIdentity } from './identity/open-authenticator.ts';
import type { Upstreams } from './upstream/upstreams.ts';
import { createLastingServices, type LastingServices, metricsOptions } from './lasting-services.ts';
import type { Start } from './load-start.ts';
import { openShared, type Shared } from './open-shared.ts';
import { verifierOf } from './identity/verifiers.ts';

/** The system facilities that tests and embedding applications can replace. */
export interface AssemblyParts {
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logStream: DestinationStream;
  /**
   * Returns a random number x (0 ≤ x < 1) that determines whether a hit on a shared page triggers a comparison with the
   * caller's own response.
   */
  readonly random: () => number;
  /** The features, in their order. */
  readonly features: readonly Feature[];
}

/** The gateway's services. A reload replaces some of them and passes the new settings to the others. */
export interface Services extends LastingServices, Acceptance {
  readonly upstream: Upstream;
  /** The callers' sessions with the upstream. They outlive a change of the upstream's address or limits. */
  readonly sessions: Sessions;
  readonly cache: PageCache;
  readonly guard: AudienceGuard;
  readonly pageCounts: PageCounts;
  /** The page counts from other gateways. */
  readonly sharedPageCounts: SharedPageCounts;
  readonly features: RunningFeatures;
  /** Determines which traces are sampled. Undefined if none are. */
  readonly sampling: Sampling | undefined;
  readonly ownership: Ownership;
  readonly lookUp: FetchJson;
  /** The pages whose most recent fetch failed. */
  readonly failingPages: FailingPages;
  readonly authenticator: Authenticator;
  readonly logins: LoginMemory;
  /** Passes a finished request's trace to all trace observers. */
  readonly recordTrace: (trace: Trace) => void;
}

/** The settings, everything read at startup, and the services. */
export interface Assembled {
  readonly settings: Settings;
  readonly start: Start;
  readonly services: Services;
}

/**
 * Creates the services without opening connections or listeners. During a reload, `before` contains the current
 * services. Services that the new settings do not affect are reused and do not change until `applySettings` is called.
 */
export function assembleServices(settings: Settings, start: Start, parts: AssemblyParts, before?: Assembled): Services {
  // Functions that outlive this call are created elsewhere. A function created here would share this call's variables,
  // so it would keep `before`, and with it every earlier configuration, in memory.
  const { clock, random } = parts;
  const kept = before?.services;
  const kindOf = kept?.kindOf ?? createKindOf();
  const { accepts, isAccepted } = createAcceptance(start.baseline, kindOf, clock);
  /** Returns the current service if none of its dependencies have changed; otherwise, creates a new one. */
  const keep = <T>(of: (services: Services) => T, dependsOn: (from: Sources) => unknown, create: () => T): T => {
    const isSame = before !== undefined && isDeepStrictEqual(dependsOn(before), dependsOn({ settings, start }));
    return isSame ? of(before.services) : create();
  };
  const logger = kept?.logger ?? createLogger({ level: settings.logging.level, clock, stream: parts.logStream });
  const upstream = keep(
    (services) => services.upstream,
    connectionSources,
    () => openUpstream({ settings, start }, clock, logger),
  );
  const sessions = keep(
    (services) => services.sessions,
    (from) => from.settings.upstream.sessionCookies,
    () => createSessions(settings.upstream.sessionCookies, clock),
  );
  const shared =
    kept?.shared ??
    openShared(settings, start, { clock, logger, openPageStore: pageStoreOf(parts.features, settings) });
  const lookUp = kept?.upstream === upstream ? kept.lookUp : createLookup(upstream, sessions);
  const cache = keep(
    (services) => services.cache,
    ({ settings: { cache: options } }) => [options.maxBytes, options.maxEntryBytes, options.gzip],
    () => openPageCache(settings, clock, shared),
  );
  const { counts: pageCounts, shared: sharedPageCounts } = keep(
    (services) => ({ counts: services.pageCounts, shared: services.sharedPageCounts }),
    ({ settings: { pageBounds } }) => pageBounds,
    () => openPageCounts(settings, clock, shared),
  );
  const guard = keep(
    (services) => services.guard,
    ({ settings: { cache: options } }) => options.sampleShared,
    () => createGuard(settings.cache, random, logger, kept?.guard.demoted() ?? [], shared),
  );
  const sampling = samplingOf(parts.features, settings);
  const own = {
    sampling,
    clock,
    logger,
    upstream,
    cache,
    guard,
    pageCounts,
    kindOf,
    accepts,
    isAccepted,
    shared,
  };
  const lasting = kept ?? createLastingServices(settings, start, own);
  const logins = keep(
    (services) => services.logins,
    (from) => from.settings.authentication.failures,
    () => ({
      hash: kept?.logins.hash ?? createKeyedHash(),
      limits: loginLimits(settings, shared.sharing),
      revocations: shared.revocations,
    }),
  );
  const { ownership: ownershipOptions } = settings.permissions;
  const features = runFeatures(
    parts.features,
    {
      settings,
      contract: start.contract,
      prepared: start.prepared,
      address: start.address,
      random,
      sharing: shared.sharing,
      ...contextOf(lasting, clock),
    },
    kept?.features,
  );
  return {
    ...lasting,
    upstream,
    sessions,
    cache,
    pageCounts,
    sharedPageCounts,
    lookUp,
    failingPages: keep(
      (services) => services.failingPages,
      (from) => [from.settings.cache.failures, connectionSources(from)],
      () => createFailingPages(settings.cache.failures, clock),
    ),
    logins,
    guard,
    features,
    sampling,
    ownership: keep(
      (services) => services.ownership,
      (from) => [from.settings.permissions.ownership, from.settings.roles.names, connectionSources(from)],
      () =>
        createOwnership(ownershipOptions, clock, settings.roles.names, createAuthorLookup(ownershipOptions, lookUp)),
    ),
    authenticator: keep(
      (services) => services.authenticator,
      identitySources,
      () => {
        const exchange = latestExchange(lasting.upstreams, upstream);
        const probe = createCredentialProbe(exchange, sessions, settings.authentication.probe);
        return openAuthenticator(settings, { roles: start.roles, probe, clock, memory: logins });
      },
    ),
    accepts,
    isAccepted,
    recordTrace: createRecorder(settings, start, parts, { ...lasting, features }),
  };
}

/** Returns what features get from the services that exist until the gateway is closed. */
function contextOf(
  { live, logger, metrics, kindOf, instance, acted, actions, records }: LastingServices,
  clock: Clock,
) {
  return {
    records,
    gateway() {
      if (live.running === undefined) throw new Error('the gateway is not assembled yet');
      return live.running;
    },
    pages: () => live.features?.pages ?? [],
    traffic: () => metrics.traffic,
    isAccepted: (...asked: Parameters<IsAccepted>) => live.accepts(...asked),
    planOf: (operation: string) => live.gateway?.plans.get(operation),
    levelsChanged: (operation: string) => live.gateway?.recompile(operation),
    acted,
    actions,
    kindOf,
    instance,
    recordFields: (operation: string, presence: FieldPresence) => live.features?.sampled(operation, presence),
    clock,
    logger,
    metrics: metrics.features,
    repeater: {
      repeat: (...request: Parameters<RequestRepeater['repeat']>) => live.repeater?.repeat(...request),
      decode: async (headers: HeaderPairs, body: Buffer) => live.repeater?.decode(headers, body),
    },
    record(request: Trace, violations: readonly Violation[]) {
      const trace = comparisonTrace(request, violations);
      metrics.record(trace);
      live.features?.found(trace);
    },
  };
}

function openUpstream({ settings, start }: Sources, clock: Clock, logger: Logger): Upstream {
  const { openSeconds } = settings.upstream.circuit;
  const listeners = {
    onCircuit: (change: CircuitChange) => logCircuit(logger, openSeconds, change),
    onAddress: (change: AddressChange) => logAddress(logger, change),
  };
  return createUpstream(start.address, settings.upstream, clock, listeners, observesLimits(settings));
}

/**
 * Returns an exchange function that looks up the current upstream on every call, because a reload can replace the
 * upstream.
 */
function latestExchange(upstreams: Upstreams, own: Upstream): Upstream['exchange'] {
  return (request) => upstreams.latestOf(own).exchange(request);
}

function loginLimits({ authentication: { failures } }: Settings, { windows }: Sharing) {
  return createLoginLimits(windows('logins', failures.maxPairs), failures);
}

function openPageCache({ cache }: Settings, clock: Clock, { follower, pages }: Shared): PageCache {
  return followChanges(createPageCache(cache, clock, pages.compress), follower, pages);
}

/** Creates the page counts and the function that looks up other gateways' counts. */
function openPageCounts({ pageBounds }: Settings, clock: Clock, { sharing, follower }: Shared) {
  return sharePageCounts(createPageCounts(pageBounds, clock), {
    clock,
    maxAgeSeconds: pageBounds.maxAgeSeconds,
    store: sharing.map('count'),
    isSharable,
    position: follower.position,
    isValid: (key, tags, at) => follower.isValid(changingTags(key, tags), at),
    isSynced: follower.canMiss ? follower.isSynced : undefined,
  });
}

function createGuard(
  { sampleShared }: Pick<Settings['cache'], 'sampleShared'>,
  random: () => number,
  logger: Logger,
  demoted: readonly string[],
  { demotions, follower }: Pick<Shared, 'demotions' | 'follower'>,
): AudienceGuard {
  const onDemoted = (operation: string) => {
    logger.warn({ operation }, 'responses differ between callers: the pages are stored per caller from now on');
    demotions.announce(operation);
  };
  const guard = createAudienceGuard({ sampleShared, random, demoted, onDemoted });
  if (!follower.canMiss) return guard;
  // Until other gateways' demotions are known, every operation is treated as demoted.
  return { ...guard, isDemoted: (id) => guard.isDemoted(id) || !demotions.areKnown() };
}

/**
 * Applies the settings to the long-lived services, at startup and after a reload. The settings then apply to all new
 * requests.
 */
export function applySettings({ settings, start, services }: Assembled, now: number): void {
  const { live, logger, metrics } = services;
  logger.level = settings.logging.level;
  services.upstreams.use(services.upstream);
  live.cache = services.cache;
  live.guard = services.guard;
  services.shared.pages.configure(settings.cache);
  live.pageCounts = services.pageCounts;
  live.baseline = start.baseline;
  metrics.configure(metricsOptions(settings, start, services, now));
  live.features = services.features;
  live.accepts = services.accepts;
  services.features.use();
}

type Sources = Pick<Assembled, 'settings' | 'start'>;

/** Returns all settings that affect the upstream connections and their limits. */
function connectionSources({ settings, start: { address } }: Sources) {
  const {
    credentials: _,
    permissionMessages: __,
    legacyOrigins: ___,
    startupProbe: ____,
    ...options
  } = settings.upstream;
  return [address, options, observesLimits(settings)];
}

/** Returns all settings that affect credential verification. */
function identitySources({ settings, start: { address, roles } }: Sources) {
  const { authentication, mode } = settings;
  const { names } = settings.roles;
  const { readsPasswords } = verifierOf(authentication);
  const passwords = readsPasswords ? roles.accounts.map((one) => [one.name, one.passwordHash, names]) : [];
  const { sessionCookies } = settings.upstream;
  return [authentication, mode.transparent && !refusesByIdentity(settings), address, passwords, sessionCookies];
}

/** Returns the function that passes each trace to all observers. */
function createRecorder(
  settings: Settings,
  { contract }: Pick<Start, 'contract'>,
  { clock, logStream }: AssemblyParts,
  services: LastingServices & Pick<Services, 'features'>,
): (trace: Trace) => void {
  const { logger, metrics, features, kindOf, nameTag } = services;
  const accessLog = createAccessLog({
    operations: contract.operations,
    pathWords: settings.profile.pathWords,
    level: settings.logging.level,
    principalNames: settings.logging.principalNames,
    clock,
    stream: logStream,
    nameTag,
    featureMembers: features.logMembers,
    fingerprintOf: (trace, violation) => kindOf(trace.operation, trace.upstream?.status, violation).fingerprint,
  });
  const observers: TraceObserver[] = [
    { name: 'metrics', record: metrics.record },
    ...features.observers,
    { name: 'access log', record: accessLog.record },
  ];
  return createTraceRecorder(observers, (observer, error) =>
    logger.error({ observer, cause: toCauseLine(error) }, 'a trace could not be recorded'),
  );
}

/** Logs that an upstream address has been ejected or is back in use. */
function logAddress(logger: Logger, { address, ejectedSeconds }: AddressChange): void {
  if (ejectedSeconds > 0)
    logger.warn(
      { address, ejectedSeconds },
      'requests to this address of the upstream keep failing: it is not used for a while',
    );
  else logger.info({ address }, 'this address of the upstream responds and is used again');
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
