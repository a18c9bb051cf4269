import { knownDefaultPageSize, toOperationCacheOptions } from './cache/cache-options.ts';
import { optionsOf } from './config/configurable.ts';
import type { Settings } from './config/settings.ts';
import { challengesOf } from './identity/refusals.ts';
import type { Scheme, Verifier } from './identity/verifier.ts';
import { verifierOf } from './identity/verifiers.ts';
import { boundedMemo } from '../lib/bounded-maps.ts';
import { isPlainObject } from '../lib/plain-object.ts';
import { publicOriginOf } from './model/arrival.ts';
import { MODES } from './model/modes.ts';
import type { Operation } from './model/operation.ts';
import { toPagingOptions } from './paging/paging-options.ts';
import { decide } from './permissions/decide.ts';
import type { CompiledGateway } from './pipeline/compiled-gateway.ts';
import { createKnownBodies } from './pipeline/known-bodies.ts';
import { withBodyObserver } from './pipeline/message-observer.ts';
import { createPageVersions, digestOfAccepted } from './pipeline/page-version.ts';
import { stagePlanners, type StageServices } from './pipeline/stage-order.ts';
import { createDecide } from './pipeline/decide-request.ts';
import { createCheckBody } from './pipeline/request-rules.ts';
import { createRepeater, type RequestRepeater } from './pipeline/repeat-request.ts';
import { compilePlan } from './pipeline/plan.ts';
import { createScanResponse } from './pipeline/scan-response.ts';
import type { FeatureStage, PlannedOperation } from './pipeline/stage.ts';
import { createTargets } from './pipeline/targets.ts';
import { compileUndocumentedPlan, type UndocumentedPlan } from './pipeline/undocumented/plan.ts';
import { compileUndocumentedPolicy } from './pipeline/undocumented/policy.ts';
import { compileSuggestPath } from './pipeline/undocumented/suggest-path.ts';
import { compilePathTemplate } from './privacy/path-template.ts';
import { openScanner } from './scanner/open-scanner.ts';
import { logAttempts } from './telemetry/trace-context.ts';
import {
  compileLegacyAddresses,
  type LegacyAddresses,
  legacyAddressFinder,
  publicAddressOf,
  rewriteWholeBody,
} from './upstream/legacy-addresses.ts';
import { decodeForInspection } from './upstream/response-body.ts';
import { createResponseHeaders } from './upstream/response-headers.ts';
import type { Upstream } from './upstream/create-upstream.ts';
import type { Sessions } from './upstream/sessions.ts';
import type { RunningFeatures } from './run-features.ts';
import type { LearnedCounts, PurgeEverywhere } from './pipeline/services.ts';
import type { FailingPages } from './pipeline/stages/isolate-page.ts';
import type { FetchJson, Ownership } from './permissions/ownership.ts';
import type { Trace } from './model/trace.ts';
import type { Acceptance } from './model/acceptance.ts';
import type { Authenticator } from './identity/create-authenticator.ts';
import type { PageCache } from './cache/memory-pages.ts';
import type { SharedPages } from './cache/shared-pages.ts';
import type { AudienceGuard } from './cache/audience-guard.ts';
import type { Clock } from '../lib/clock.ts';
import type { Start } from './load-start.ts';

/** The memory limit for remembered request targets is the limit for stored pages divided by this number. */
const TARGETS_SHARE = 8;

/**
 * The maximum number of compiled permission requirements to remember. It exceeds the number of permissions that a
 * contract and a configuration together define.
 */
const MAX_PERMISSIONS = 1_000;

/** The maximum number of operations whose plans outside `observe` mode are remembered. */
const MAX_OPERATIONS = 1_000;

/** What plans are compiled from: the settings, what was read at startup, and services, each under its name. */
export interface PlanSources {
  readonly settings: Settings;
  readonly start: Start;
  readonly clock: Clock;
  readonly acceptance: Acceptance;
  readonly authenticator: Authenticator;
  readonly cache: PageCache;
  readonly failingPages: FailingPages;
  readonly features: Pick<RunningFeatures, 'levels' | 'messages' | 'verifiers'>;
  readonly guard: AudienceGuard;
  readonly lookUp: FetchJson;
  readonly ownership: Ownership;
  readonly pageCounts: LearnedCounts;
  readonly purge: PurgeEverywhere;
  readonly recordTrace: (trace: Trace) => void;
  readonly sessions: Sessions;
  readonly sharedPages: SharedPages;
  readonly upstream: Upstream;
}

/** Compiles the plans of all operations, with the given stages of features, and creates the gateway from them. */
export function compileGateway(sources: PlanSources, features: readonly FeatureStage[]): CompiledGateway {
  const { settings, start, clock, guard } = sources;
  const { levels, messages } = sources.features;
  const { contract, permissions } = start;
  const { authentication } = settings;
  const authenticator = sources.authenticator.precededBy(verifiersOf(settings, sources.features));
  const schemes = acceptedSchemes(settings, sources.features);
  const challenge = challengesOf(schemes, authentication.realm);
  const requirementOf = boundedMemo(MAX_PERMISSIONS, (permission: string) => permissions.compile({ permission }));
  const decidePermission: CompiledGateway['decidePermission'] = (permission, grants) =>
    decide(requirementOf(permission), grants, 'not-checked');
  const { grantsOf } = permissions;
  const disabled = disabledOperations(settings, contract.operations);
  const mayUse: CompiledGateway['mayUse'] = (id, grants) =>
    plans.has(id) &&
    !disabled.has(id) &&
    decide(permissions.requirementOf(id), grants, 'not-checked').verdict === 'allowed';
  const access = { challenge, decidePermission, grantsOf };
  const planners = stagePlanners(stageServices(sources, access), features);
  const pageVersionOf = createPageVersions(settings, start, () => digestOfAccepted(start.baseline));
  const planned = (operation: Operation) => {
    const configured = planOperation(settings, operation);
    const effective = { ...configured, ...levels?.of(configured) };
    return compilePlan({ ...effective, pageVersion: pageVersionOf(effective) }, planners);
  };
  const plans = new Map(contract.operations.map((operation) => [operation.id, planned(operation)]));
  const targets = createTargets({
    contract,
    plans,
    undocumented: compileUndocumentedPolicy(
      settings.profile.basePath,
      settings.checks.undocumented,
      settings.mode.transparent,
      settings.undocumented.allow,
    ),
    maxBytes: settings.cache.maxBytes / TARGETS_SHARE,
  });
  // Stages share state only through the services, so replacing a plan does not affect requests in progress.
  const recompile = (id: string) => {
    const current = plans.get(id);
    if (current === undefined) return;
    plans.set(id, planned(current.operation));
    targets.clear();
  };
  // Some pages are stored only because this gateway's baseline accepts their violations. Gateways with a different
  // baseline must not use them, so page versions change whenever the baseline changes.
  start.baseline?.onChange(() => [...plans.keys()].forEach(recompile));
  return {
    basePath: settings.profile.basePath,
    contract,
    plans,
    recompile,
    undocumented: undocumentedPlan(sources, features, access),
    pathTemplate: compilePathTemplate(
      contract.operations.map(({ path }) => path),
      settings.profile,
    ).of,
    suggestPath: compileSuggestPath(contract.operations.map(({ path }) => path)),
    checks: settings.checks,
    authenticator,
    targets,
    guard,
    observeRequest: messages.request,
    clock,
    mayUse,
    ...access,
  };
}

/** Returns the verifiers of features that are asked. In `observe` mode, every credential is forwarded unchanged. */
export const verifiersOf = (
  { mode }: Pick<Settings, 'mode'>,
  { verifiers }: Pick<RunningFeatures, 'verifiers'>,
): readonly Verifier[] => (mode.transparent ? [] : verifiers);

/** Returns the schemes of the credentials that are accepted, in the order of the verifiers. */
export const acceptedSchemes = (
  settings: Pick<Settings, 'authentication' | 'mode'>,
  features: Pick<RunningFeatures, 'verifiers'>,
): readonly Scheme[] => [
  ...verifiersOf(settings, features).map(({ scheme }) => scheme),
  verifierOf(settings.authentication).scheme,
];

/** Returns all known addresses of the legacy server, whether or not they receive requests. */
function legacyAddressesOf({ upstream }: Settings, { address }: Start): LegacyAddresses {
  return compileLegacyAddresses(address, [...upstream.alternates, ...upstream.legacyOrigins]);
}

/** How callers may get access. */
type Access = Pick<CompiledGateway, 'challenge' | 'decidePermission' | 'grantsOf'>;

/** Compiles the plan for undocumented paths, with the given stages of features. */
export function undocumentedPlan(
  { settings, start, clock, upstream, sessions, purge, features: { messages } }: PlanSources,
  features: readonly FeatureStage[],
  access: Access,
): UndocumentedPlan {
  return compileUndocumentedPlan({
    access: { ...access, serviceCredential: start.serviceAuthorization !== undefined },
    clock,
    legacy: legacyAddressesOf(settings, start),
    checks: settings.checks,
    transparent: settings.mode.transparent,
    allow: settings.undocumented.allow,
    rewriteUrls: settings.rewriteUrls,
    publicAddress: (origin) => publicAddressOf(origin, settings.publicBasePath),
    upstream,
    sessions,
    logAttempts: start.sampling && logAttempts,
    observeResponse: messages.undocumentedResponse,
    features,
    purgedBy: settings.profile.purgedBy,
    purge: (tags) => purge(tags ?? 'all'),
  });
}

/** Returns what the stages of the operations need. */
export function stageServices(
  sources: PlanSources,
  { challenge, decidePermission }: Pick<Access, 'challenge' | 'decidePermission'>,
): StageServices {
  const {
    settings,
    start,
    acceptance,
    clock,
    features: { messages },
  } = sources;
  const { authenticator, cache, failingPages, guard, lookUp, ownership, pageCounts, purge, recordTrace } = sources;
  const { sessions, sharedPages, upstream } = sources;
  const { contract, permissions, isPermissionMessage, serviceAuthorization } = start;
  const { noCacheRoles, earlyRefresh } = settings.cache;
  const { maxBodyBytes, maxJsonDepth, maxJsonValues } = settings.listen;
  const legacy = legacyAddressesOf(settings, start);
  const jsonLimits = { depth: settings.upstream.maxJsonDepth, values: settings.upstream.maxJsonValues };
  return {
    authenticator,
    cache,
    clock,
    contract,
    failingPages,
    guard,
    messages,
    ownership,
    pageCounts,
    permissions,
    purge,
    recordTrace,
    sessions,
    sharedPages,
    upstream,
    noCacheRoles,
    earlyRefresh,
    isPermissionMessage,
    serviceAuthorization,
    challenge,
    publicOrigin: publicOriginOf(settings.publicOrigin),
    bodyLimits: { bytes: maxBodyBytes, json: { depth: maxJsonDepth, values: maxJsonValues } },
    jsonLimits,
    namesUpstream: legacyAddressFinder(legacy),
    knownBodies: createKnownBodies(),
    logAttempts: start.sampling && logAttempts,
    decode: bodyDecoder(settings),
    isAccepted: ({ id }, violation, status) => acceptance.isAccepted(id, status, violation),
    scan:
      settings.contract.scanner && messages.parsedResponse === undefined
        ? createScanResponse(contract, openScanner(jsonLimits), settings.profile.items)
        : undefined,
    decide: createDecide({
      permissions,
      ownership,
      findOwner: settings.profile.findOwner,
      lookUp,
      disabledOperations: disabledOperations(settings, contract.operations),
    }),
    planBodyCheck: withBodyObserver(
      createCheckBody({
        optionsOf: (name) => optionsOf(settings, { name }),
        rules: contract.rules.requestRules,
        schema: contract.checkRequest,
        hasPermission: ({ grants }, permission) => decidePermission(permission, grants).verdict === 'allowed',
        lookUp,
      }),
      messages.requestBody,
    ),
    legacyAddresses: {
      rewrite: settings.rewriteUrls,
      replace: (body, publicAddress) => rewriteWholeBody(body, legacy, publicAddress),
      publicAddress: (origin) => publicAddressOf(origin, settings.publicBasePath),
    },
  };
}

/** Returns the service that repeats clients' requests in the forms of this configuration. */
export function requestRepeater({
  settings,
  start,
  upstream,
  sessions,
}: Pick<PlanSources, 'settings' | 'start' | 'upstream' | 'sessions'>): RequestRepeater {
  const built = { ...settings, mode: MODES.staging };
  const operations = new Map(start.contract.operations.map((operation) => [operation.id, operation]));
  const planned = boundedMemo(MAX_OPERATIONS, (id: string): PlannedOperation | undefined => {
    const operation = operations.get(id);
    return operation && { ...planOperation(built, operation), pageVersion: '' };
  });
  return createRepeater({
    upstream,
    sessions,
    serviceAuthorization: start.serviceAuthorization,
    publicOrigin: publicOriginOf(settings.publicOrigin),
    plannedAs: planned,
    decode: bodyDecoder(settings),
  });
}

/** Returns the function that returns the body of a response without its content coding. */
function bodyDecoder({ upstream: { maxResponseBytes } }: Settings): RequestRepeater['decode'] {
  return (headers, body) => decodeForInspection({ status: 200, headers, body }, maxResponseBytes);
}

/** Combines an operation with its configuration. */
export function planOperation(settings: Settings, operation: Operation): Omit<PlannedOperation, 'pageVersion'> {
  const own = settings.operations[operation.id] ?? {};
  const { cacheability } = operation;
  const cache =
    cacheability === undefined
      ? undefined
      : toOperationCacheOptions(
          settings.cache,
          { byDefault: cacheability.byDefault, on: settings.mode.cache },
          own.cache,
        );
  const { transparent } = settings.mode;
  return {
    operation,
    items: settings.profile.items,
    checks: settings.checksFor(operation.id),
    errors: settings.errorsFor(operation.id),
    translation: settings.translationFor(operation.id),
    transparent,
    serviceCredential: settings.upstream.credentials.kind === 'service' && operation.identityIndependent,
    maxPageSize: toPagingOptions(settings.pageBounds, own.pageBounds).maxPageSize,
    defaultPageSize: knownDefaultPageSize(settings.cache, operation.id),
    responseHeaders: createResponseHeaders(settings.upstream.responseHeaders),
    cache: cache?.enabled === true && !transparent ? cache : undefined,
  };
}

/**
 * Returns the operations that are disabled because they need a part of the upstream that the configuration turns off
 * (docs/rules.md §3). For example, the key `issueTracker.enabled` turns off the part `issue-tracker`. Maps each operation
 * id to the configuration key that disables it.
 */
export function disabledOperations(
  { features }: Pick<Settings, 'features'>,
  operations: readonly Pick<Operation, 'id' | 'needsFeature'>[],
): ReadonlyMap<string, string> {
  const off = new Set(
    features
      .filter(({ options }) => isPlainObject(options) && options['enabled'] === false)
      .map(({ configurable }) => configurable.name),
  );
  return new Map(
    operations.flatMap(({ id, needsFeature = '' }) => {
      const key = needsFeature.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
      return off.has(key) ? [[id, `${key}.enabled`] as const] : [];
    }),
  );
}
