import { readFileSync } from 'node:fs';
import type { OpenPageStore } from './cache/page-store.ts';
import { settingsDigest } from './config/changed-keys.ts';
import { featuresInUse, optionsOf } from './config/configurable.ts';
import { demoAccountFaults, operationFaults, redactionFaults } from './config/cross-faults.ts';
import { rolesFileFaults, rolesFileWarnings } from './config/secrets.ts';
import { settingWarnings } from './config/setting-warnings.ts';
import type { PreparedFeature, Settings } from './config/settings.ts';
import { type Contract, loadContract } from './contract/load-contract.ts';
import { systemClock } from '../lib/clock.ts';
import { fileReason } from '../lib/file-reason.ts';
import { readTlsIdentity, type TlsIdentity } from './http/tls-certificate.ts';
import type { Feature } from './feature.ts';
import type { AcceptedViolations } from './model/acceptance.ts';
import { pointerTo } from '../lib/json-pointer.ts';
import { type Fault, StartFault } from './model/fault.ts';
import { compilePermissions, type Permissions } from './permissions/compile-permissions.ts';
import {
  loadRoles,
  nameFaults,
  type RolesFile,
  unmappedPolicyOf,
  withoutDemoAccounts,
} from './permissions/roles-file.ts';
import { readRedisSecrets, type RedisSecrets, usesRedis } from './sharing/redis/redis-options.ts';
import { type UpstreamAddress, upstreamAddressOf } from './upstream/upstream-url.ts';
import { compilePermissionMessage, type PermissionMessage } from './upstream/failures/permission-message.ts';
import type { Sampling } from './telemetry/trace-context.ts';
import { serviceAuthorization } from './upstream/upstream-options.ts';
import { verifierOf } from './identity/verifiers.ts';

/** Everything that is read and compiled before the services are created. */
export interface Start {
  readonly contract: Contract;
  /** What features have read, by the feature's name. */
  readonly prepared: ReadonlyMap<string, PreparedFeature>;
  /** The roles file in effect. */
  readonly roles: RolesFile;
  /** The permissions compiled from the roles file. */
  readonly permissions: Permissions;
  /** Problems that do not prevent startup, found in the contract, the settings and what features read. */
  readonly warnings: readonly Fault[];
  readonly address: UpstreamAddress;
  readonly isPermissionMessage: PermissionMessage;
  /** The service account's `Authorization` header. Undefined if clients' credentials are forwarded. */
  readonly serviceAuthorization: string | undefined;
  /** The accepted violations. Undefined if no baseline file is configured. */
  readonly baseline: AcceptedViolations | undefined;
  /** The certificate and key of the public side. Undefined if TLS is not used. */
  readonly tls: TlsIdentity | undefined;
  /** The secrets for the connection to Redis. Undefined if Redis is not configured. */
  readonly redis: RedisSecrets | undefined;
  /** Determines which traces are sampled. Undefined if none are. */
  readonly sampling: Sampling | undefined;
  /** Opens the store of pages of a feature. Undefined if none has one. */
  readonly openPageStore: OpenPageStore | undefined;
}

/** The startup inputs other than the settings. */
export interface StartSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly features: readonly Feature[];
  /** The running gateway, if this is a reload. */
  readonly running?: { readonly start: Start };
}

/**
 * Loads the contract, the roles file and the upstream's settings. Throws a StartFault that lists all configuration
 * errors in them.
 */
export function loadStart(settings: Settings, { env, features, running }: StartSources): Start {
  const failures = new Set<StartFault>();
  /**
   * Runs a step and returns a function that returns the step's result. If the step fails, its error is collected, and
   * the function throws it. A later step that needs the result therefore fails with the same error, which is collected
   * only once.
   */
  const attempt = <T>(step: () => T): (() => T) => {
    try {
      const result = step();
      return () => result;
    } catch (error) {
      if (!(error instanceof StartFault)) throw error;
      failures.add(error);
      return () => {
        throw error;
      };
    }
  };
  const contract = attempt(() => loadContract(settings.contract));
  const hasContract = failures.size === 0;
  const prepared = featuresInUse(settings).flatMap(({ configurable, options }) => {
    const { name, prepare } = configurable;
    if (prepare === undefined) return [];
    const earlier = running?.start.prepared.get(name)?.value;
    const result = attempt(() => prepare({ options, settings, earlier }));
    return [[name, result] as const];
  });
  attempt(() => checkOperations(settings, contract()));
  // Without the contract, only the roles file itself can be checked.
  if (!hasContract) attempt(() => readRoles(settings));
  const rules = attempt(() => loadPermissions(settings, contract()));
  const address = attempt(() => upstreamAddressOf(settings.upstream.url ?? '', settings.placeOf('/upstream/url')));
  const service = attempt(() => serviceOf(settings, env));
  const baseline = attempt(() => baselineOf(settings, features));
  const isPermissionMessage = attempt(() => permissionMessageOf(settings));
  const tls = attempt(() => tlsOf(settings));
  const redis = attempt(() => redisOf(settings));
  if (failures.size > 0) throw new StartFault([...failures].flatMap(({ faults }) => faults));
  return {
    contract: contract(),
    prepared: new Map(
      prepared.flatMap(([name, result]) => {
        const found = result();
        return found === undefined ? [] : [[name, found] as const];
      }),
    ),
    warnings: [
      ...contract().warnings,
      ...rolesFileWarnings(settings, rules().roles),
      ...settingWarnings(settings, contract(), rules().roles),
      ...prepared.flatMap(([, result]) => result()?.warnings?.(contract()) ?? []),
      ...(baseline()?.warnings(systemClock()) ?? []),
    ],
    ...rules(),
    address: address(),
    isPermissionMessage: isPermissionMessage(),
    serviceAuthorization: service().authorization,
    baseline: baseline(),
    tls: tls(),
    redis: redis(),
    sampling: samplingOf(features, settings),
    openPageStore: pageStoreOf(features, settings),
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
 * Checks the settings of individual operations. The checks are here because their error messages need the settings'
 * locations in the configuration.
 */
function checkOperations(settings: Settings, { operations }: Contract): void {
  const ids = operations.map(({ id }) => id);
  const ofFeatures = featuresInUse(settings).flatMap(({ configurable, options }) =>
    (configurable.checkContract?.(options, { operations }) ?? []).map(({ pointer, ...problem }) =>
      Object.assign(problem, settings.placeOf(pointer)),
    ),
  );
  const faults = [...operationFaults(settings, ids), ...redactionFaults(settings, operations), ...ofFeatures];
  if (faults.length > 0) throw new StartFault(faults);
}

/**
 * Reads and compiles the roles file. If the upstream is a real server, the demo accounts are removed. Throws a
 * StartFault that lists all errors in the file.
 */
export function loadPermissions(settings: Settings, contract: Contract): Pick<Start, 'roles' | 'permissions'> {
  const further = furtherPermissions(settings, contract);
  const written = readRoles(settings, {
    permissions: further,
    groups: contract.groups.map(({ name }) => name),
    flags: contract.flags.map(({ name }) => name),
  });
  const { names } = settings.roles;
  const roles = settings.embedded ? written : withoutDemoAccounts(written);
  const faults = [
    ...demoAccountFaults(settings, written),
    ...rolesFileFaults(settings, written),
    ...nameFaults(roles, names),
  ];
  if (faults.length > 0) throw new StartFault(faults);
  const { asksUpstream } = verifierOf(settings.authentication);
  const standard = asksUpstream ? 'delegate' : 'deny';
  const permissions = compilePermissions({
    roles,
    operations: contract.operations,
    unmapped: unmappedPolicyOf(roles, settings.roles.unmapped, standard),
    knownToUpstream: asksUpstream,
    names,
    further: further.map((permission) => ({ permission })),
  });
  return { roles, permissions };
}

/** Reads the roles file. Without a catalog, the permission names in the file are not checked. */
export function readRoles({ roles: { file } }: Settings, catalogue?: Parameters<typeof loadRoles>[2]): RolesFile {
  return loadRoles(readRolesText(file), file, catalogue);
}

/**
 * Returns the permissions in the catalog and in `undocumented.allow`. Roles may include these permissions even if no
 * operation requires them.
 */
function furtherPermissions({ undocumented }: Settings, contract: Contract): string[] {
  const allowed = undocumented.allow.map(({ permission }) => permission).filter((name) => name !== undefined);
  return [...new Set([...contract.permissions.map(({ name }) => name), ...allowed])];
}

function readRolesText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const message = `the roles file cannot be read: ${fileReason(error)}`;
    throw new StartFault([{ source: file, pointer: '', message, suggestion: 'set roles.file to its path' }]);
  }
}

function tlsOf({ listen: { tls }, placeOf }: Settings): TlsIdentity | undefined {
  if (tls === undefined) return undefined;
  const { identity, faults } = readTlsIdentity(tls);
  if (identity !== undefined) return identity;
  throw new StartFault(faults.map(({ key, message }) => Object.assign({ message }, placeOf(`/listen/tls/${key}`))));
}

function redisOf({ redis, placeOf }: Settings): RedisSecrets | undefined {
  if (!usesRedis(redis)) return undefined;
  const { secrets, faults } = readRedisSecrets(redis);
  if (secrets !== undefined) return secrets;
  throw new StartFault(
    faults.map(({ key, message }) => Object.assign({ message }, placeOf(pointerTo(['redis', ...key.split('.')])))),
  );
}

function baselineOf(settings: Settings, features: readonly Feature[]): AcceptedViolations | undefined {
  for (const feature of features) {
    const options = feature.acceptance && optionsOf(settings, feature);
    if (options !== undefined) return feature.acceptance?.open(options, settings);
  }
  return undefined;
}

/** Returns which traces the features sample, or undefined if none of them samples traces. */
export function samplingOf(features: readonly Feature[], settings: Settings): Sampling | undefined {
  for (const feature of features) {
    const options = optionsOf(settings, feature);
    const sampling = options === undefined ? undefined : feature.sampling?.(options);
    if (sampling !== undefined) return sampling;
  }
  return undefined;
}

/** Returns the function that opens the store of pages of a feature, or undefined if no feature has one. */
function pageStoreOf(features: readonly Feature[], settings: Settings): OpenPageStore | undefined {
  for (const feature of features) {
    const options = optionsOf(settings, feature);
    const open = feature.openPageStore?.bind(feature);
    if (options !== undefined && open !== undefined) return (parts) => open(options, parts);
  }
  return undefined;
}

function serviceOf({ upstream, placeOf }: Settings, env: Readonly<Record<string, string | undefined>>) {
  const service = serviceAuthorization(upstream.credentials, env);
  if ('fault' in service) throw new StartFault([{ ...placeOf('/upstream/credentials'), message: service.fault }]);
  return service;
}

function permissionMessageOf({ upstream, placeOf }: Settings): PermissionMessage {
  try {
    return compilePermissionMessage(upstream.permissionMessages);
  } catch {
    const place = placeOf('/upstream/permissionMessages');
    throw new StartFault([{ ...place, message: 'contains an invalid regular expression' }]);
  }
}
