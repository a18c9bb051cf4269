import { resolve } from 'node:path';
import { toCacheOptions } from '../cache/cache-options.ts';
import { toContractOptions } from '../contract/contract-options.ts';
import { valueAt } from '../../lib/json-pointer.ts';
import { IN_MEMORY } from '../../lib/replace-file.ts';
import { IDENTITY_DEFAULTS } from '../identity/identity-options.ts';
import { operatorsOptions } from '../identity/operators-options.ts';
import { isPlainObject, type PlainObject, withDefaults, withoutValueAt, withValueAt } from '../../lib/plain-object.ts';
import { type ModeName, MODES } from '../model/modes.ts';
import { UNLABELLED } from '../model/release-statistics.ts';
import { type Fault, StartFault } from '../model/fault.ts';
import { toPagingOptions } from '../paging/paging-options.ts';
import { PERMISSIONS_DEFAULTS } from '../permissions/permissions-options.ts';
import { ROLES_DEFAULTS } from '../permissions/roles-options.ts';
import { REDIS_DEFAULTS, type RedisOptions, type RedisTlsOptions } from '../sharing/redis/redis-options.ts';
import { UPSTREAM_DEFAULTS, type UpstreamOptions } from '../upstream/upstream-options.ts';
import { checkConfig } from './config-schema.ts';
import { configPath, givenConfig, readConfigFile, readEnvironment } from './config-sources.ts';
import { pointerOf, withSchemaDefaults } from './configurable.ts';
import { crossFaults } from './cross-faults.ts';
import { withoutFormerKeys } from './former-keys.ts';
import { LISTEN_DEFAULTS, TLS_DEFAULTS, type TlsOptions } from './general-options.ts';
import { placeholderProblems } from './placeholders.ts';
import { readAdminToken, secretProblems } from './secrets.ts';
import type { Product } from './product.ts';
import {
  type Configurable,
  type ConfigProblem,
  type Environment,
  type OperationSettings,
  type Origin,
  type Override,
  type Place,
  type Settings,
  withFilePaths,
} from './settings.ts';

/** The sources of the configuration. */
export interface SettingsSources {
  readonly env: Environment;
  readonly cwd: string;
  /** The values of command-line flags, which take precedence over all other sources. */
  readonly flags?: readonly Override[];
  /** A configuration passed by a program instead of a file. */
  readonly given?: PlainObject;
}

/** The settings and all configuration errors. */
export interface SettingsReading {
  /**
   * The settings, with defaults in place of invalid values. If there are errors, use the settings only to find more
   * errors.
   */
  readonly settings: Settings;
  readonly faults: readonly Fault[];
  /** True if the settings do not show which roles file and which contract the configuration names. */
  readonly isPartial?: boolean;
}

/** The result of reloading the configuration. */
export type ReloadResult =
  | {
      readonly outcome: 'applied';
      /** The names of the changed keys and of the files whose contents have changed. Empty if nothing has changed. */
      readonly changed: readonly string[];
      /** Problems that do not prevent the reload. */
      readonly warnings: readonly Fault[];
    }
  | { readonly outcome: 'refused'; readonly faults: readonly Fault[] };

/**
 * Loads the configuration. In descending order of precedence, values come from flags, environment variables, the file,
 * and the defaults. Throws a StartFault that lists all configuration errors.
 */
export function loadSettings(sources: SettingsSources, product: Product): Settings {
  const { settings, faults } = readSettings(sources, product);
  if (faults.length > 0) throw new StartFault(faults);
  return settings;
}

/** Reads the configuration. Reading continues after an error so that all errors are reported together. */
export function readSettings(sources: SettingsSources, product: Product): SettingsReading {
  const file =
    sources.given === undefined
      ? readConfigFile(configPath(sources.env, sources.cwd), sources.cwd)
      : givenConfig(sources.given, sources.cwd);
  const environment = readEnvironment(sources.env, product);
  const overrides = [...environment.overrides, ...(sources.flags ?? [])];
  const { value: written, renamed, writtenAt } = withoutFormerKeys(file.value, product);
  const raw = overrides.reduce((value, { pointer, value: set }) => withValueAt(value, pointer, set), written);

  const overrideAt = (pointer: string) => overrides.findLast((override) => covers(override.pointer, pointer));
  // An error in a token read from a file is reported for the key that contains the file's path.
  const keyOf = (pointer: string) =>
    pointer === '/adminToken' && !has(raw, pointer) && has(raw, '/adminTokenFile') ? '/adminTokenFile' : pointer;
  const originOf = (key: string): Origin => {
    const pointer = keyOf(key);
    return overrideAt(pointer)?.kind ?? (has(written, pointer) ? 'file' : 'default');
  };
  const placeOf = (key: string): Place => {
    const pointer = keyOf(key);
    const below = overrides.findLast((override) => covers(pointer, override.pointer));
    const override = overrideAt(pointer) ?? (has(written, pointer) ? undefined : below);
    return override === undefined
      ? { source: file.locate(writtenAt(pointer)), pointer: writtenAt(pointer) }
      : { source: override.source, pointer: '' };
  };
  const placeholders = placeholderProblems(raw, product);
  const isReplaced = ({ pointer }: ConfigProblem) => !placeholders.some((one) => one.pointer === pointer);
  // If the file cannot be read, only the values of variables and flags are known.
  const isKnown = ({ pointer }: ConfigProblem) => file.faults.length === 0 || overrideAt(pointer) !== undefined;
  const problems = [...placeholders, ...checkConfig(raw, product).filter(isReplaced)].filter(isKnown);
  const valid = validPart(raw, problems, product);
  const read = toSettings(valid ?? {}, {
    file: file.name,
    folder: file.folder,
    cwd: sources.cwd,
    originOf,
    placeOf,
    product,
    renamed,
  });
  const { token = read.adminToken, problem } = readAdminToken(read);
  const settings = { ...read, adminToken: token };
  const faults: Fault[] = [...file.faults, ...environment.faults];
  const secret = problem === undefined ? secretProblems(settings, sources.env, file.path) : [problem];
  const isPartial = file.faults.length > 0 || valid === undefined;
  const isDoubtful = isPartial || keysOfProblems(problems).some((pointer) => DECISIVE.test(pointer));
  const combined = isDoubtful ? [] : [...crossFaults(settings, sources.env), ...secret].filter(isNotKnown(problems));
  for (const { meant: _meant, other: _other, ...one } of [...problems, ...combined])
    faults.push({ ...one, ...placeOf(one.pointer) });
  const namesFiles = keysOfProblems(problems).some((pointer) => NAMES_FILES.test(pointer));
  return { settings, faults: inOrder(faults), isPartial: isPartial || namesFiles };
}

/**
 * The keys on which the defaults of many others depend. If one of them is invalid, combinations with its default would
 * cause untrue errors.
 */
const DECISIVE = /^\/(?:mode|listen|upstream|upstream\/url|listen\/adminHost)$/;

/**
 * Returns a filter that omits the errors of keys that have already got one, themselves or in a part of them. For an error
 * in a combination of two keys, this applies to both.
 */
const isNotKnown =
  (known: readonly ConfigProblem[]) =>
  ({ pointer, other = pointer }: ConfigProblem) =>
    !keysOfProblems(known).some((one) => [pointer, other].some((key) => covers(one, key) || covers(key, one)));

/** Returns the pointers of the keys with problems, and of the keys that were meant by unknown ones. */
const keysOfProblems = (problems: readonly ConfigProblem[]): string[] =>
  problems.flatMap(({ pointer, meant }) => (meant === undefined ? [pointer] : [pointer, meant]));

/** The keys that name the roles file and the contract. */
const NAMES_FILES = /^\/(?:roles|contract)(?:\/|$)/;

// Removing the invalid values may make another value invalid. In that case, the whole configuration is ignored: the
// result is undefined.
function validPart(raw: PlainObject, problems: readonly ConfigProblem[], product: Product): PlainObject | undefined {
  if (problems.length === 0) return raw;
  const rest = problems.reduce((value, { pointer }) => withoutValueAt(value, pointer), raw);
  return checkConfig(rest, product).length === 0 ? rest : undefined;
}

// Sorts the errors by source. If the source is a file, it includes the line number.
const inOrder = (faults: readonly Fault[]) =>
  [...faults].sort((a, b) => a.source.localeCompare(b.source, 'en', { numeric: true }));

const covers = (outer: string, pointer: string) => pointer === outer || pointer.startsWith(`${outer}/`);

function has(value: unknown, pointer: string): boolean {
  let here = value;
  for (const key of pointer.split('/').slice(1)) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return false;
    here = (here as Record<string, unknown>)[key];
  }
  return true;
}

/** The source of the raw configuration, and the folders against which its paths are resolved. */
interface ConfigPlace {
  readonly file: string;
  /** The folder against which a relative path to the roles file is resolved. */
  readonly folder: string;
  readonly cwd: string;
  readonly originOf: Settings['originOf'];
  readonly placeOf: Settings['placeOf'];
  readonly product: Product;
  readonly renamed: Settings['renamed'];
}

function withPasswordFile(upstream: UpstreamOptions, resolved: (path: string) => string | undefined): UpstreamOptions {
  const { credentials } = upstream;
  if (credentials.kind === 'forward' || credentials.passwordFile === undefined) return upstream;
  const passwordFile = resolved(credentials.passwordFile);
  return { ...upstream, credentials: { ...credentials, ...(passwordFile !== undefined && { passwordFile }) } };
}

function withRedisFiles(
  redis: RedisOptions,
  resolved: (pointer: string, path: unknown) => string | undefined,
): RedisOptions {
  const at = (key: 'urlFile' | 'passwordFile' | 'sealKeyFile' | 'previousSealKeyFile') => {
    const path = resolved(`/redis/${key}`, redis[key]);
    return path === undefined ? {} : { [key]: path };
  };
  const files = Object.entries(redis.tls ?? {}).map(([key, value]: [string, unknown]) =>
    key.endsWith('File') ? [key, resolved(`/redis/tls/${key}`, value)] : [key, value],
  );
  const sentinelPassword = resolved('/redis/sentinel/passwordFile', redis.sentinel?.passwordFile);
  const sentinel = redis.sentinel &&
    sentinelPassword !== undefined && { sentinel: { ...redis.sentinel, passwordFile: sentinelPassword } };
  const tls = redis.tls && { tls: Object.fromEntries(files) as RedisTlsOptions };
  return {
    ...redis,
    ...at('urlFile'),
    ...at('passwordFile'),
    ...at('sealKeyFile'),
    ...at('previousSealKeyFile'),
    ...sentinel,
    ...tls,
  };
}

function toListenOptions({ tls, ...raw }: PlainObject, embedded: boolean, folder: string): Settings['listen'] {
  // If the embedded upstream is used, there is no load balancer that needs time to notice the shutdown.
  const listen = withDefaults(embedded ? { ...LISTEN_DEFAULTS, lameDuckSeconds: 0 } : LISTEN_DEFAULTS, raw);
  if (!isPlainObject(tls)) return listen;
  const options = Object.entries(tls).map(([key, value]) =>
    key.endsWith('File') ? [key, resolve(folder, String(value))] : [key, key === 'minVersion' ? String(value) : value],
  );
  return { ...listen, tls: { ...TLS_DEFAULTS, ...(Object.fromEntries(options) as TlsOptions) } };
}

/** The options of a feature that has none. */
const NO_OPTIONS = {};

/** Converts the raw configuration to settings with all defaults. `raw` must be valid according to the schema. */
function toSettings(raw: PlainObject, place: ConfigPlace): Settings {
  const part = (key: string) => (isPlainObject(raw[key]) ? raw[key] : {});
  const upstream = withDefaults(UPSTREAM_DEFAULTS, raw['upstream']);
  const embedded = upstream.url === undefined;
  const mode = MODES[(raw['mode'] as ModeName | undefined) ?? (embedded ? 'strict' : 'observe')];
  const checks = withDefaults(mode.checks, raw['checks']);
  const errors = (raw['errors'] as Settings['errors'] | undefined) ?? mode.errors;
  const operations = new Map(Object.entries(part('operations') as Record<string, OperationSettings>));
  const checksById = new Map([...operations].map(([id, own]) => [id, withDefaults(checks, own.checks)]));
  const roles = withDefaults(ROLES_DEFAULTS, raw['roles']);
  // Paths in flags and variables are relative to the working directory. All other paths are relative to the directory
  // that contains the configuration file.
  const folderOf = (pointer: string) =>
    ['environment', 'flag'].includes(place.originOf(pointer)) ? place.cwd : place.folder;
  const pathAt = (pointer: string, path: unknown) =>
    typeof path === 'string' ? resolve(folderOf(pointer), path) : undefined;
  const allow = (part('parameters')['allow'] ?? {}) as Settings['parameters']['allow'];
  // The paths of files that the gateway writes are relative to the working directory, because the directory that
  // contains the configuration file may be read-only.
  const statePath = (path: string) => (path === IN_MEMORY ? path : resolve(place.cwd, path));
  /** Returns a feature's options with absolute paths. */
  const withFiles = (configurable: Configurable, options: unknown): unknown => {
    const withRead = withFilePaths(configurable, options, ['secret', 'document'], (pointer, path) =>
      resolve(folderOf(pointer), path),
    );
    return withFilePaths(configurable, withRead, ['state'], (_, path) => statePath(path));
  };
  return {
    mode,
    checks,
    checksFor: (id) => (id === undefined ? undefined : checksById.get(id)) ?? checks,
    errors,
    errorsFor: (id) => (id === undefined ? undefined : operations.get(id)?.errors) ?? errors,
    translationFor: (id) => {
      const own = operations.get(id)?.errors;
      if ((own ?? errors) === 'normalized') return 'enforce';
      return own === undefined && mode.transparent ? 'report' : 'off';
    },
    embedded,
    publicOrigin: raw['publicOrigin'] as string | undefined,
    publicBasePath: (raw['publicBasePath'] as string | undefined) ?? '',
    listen: toListenOptions(part('listen'), embedded, place.folder),
    adminToken: raw['adminToken'] as string | undefined,
    operators: withSchemaDefaults(
      operatorsOptions as unknown as PlainObject,
      raw['operators'],
    ) as Settings['operators'],
    adminTokenFile: pathAt('/adminTokenFile', raw['adminTokenFile']),
    readableSecrets: (raw['readableSecrets'] as Settings['readableSecrets'] | undefined) ?? 'refuse',
    upstream: withPasswordFile(upstream, (path) => pathAt('/upstream/credentials/passwordFile', path)),
    rewriteUrls: raw['rewriteUrls'] === true,
    authentication: withDefaults(
      {
        ...IDENTITY_DEFAULTS,
        verifier: embedded ? ('file' as const) : ('upstream' as const),
        probe: { ...IDENTITY_DEFAULTS.probe, path: place.product.profile.probePath },
      },
      raw['authentication'],
    ),
    roles: { ...roles, file: resolve(folderOf('/roles/file'), roles.file) },
    permissions: withDefaults(PERMISSIONS_DEFAULTS, raw['permissions']),
    parameters: { allow },
    pageBounds: toPagingOptions(part('pageBounds')),
    cache: toCacheOptions(part('cache')),
    contract: toContractOptions(
      part('contract'),
      { embedded, folder: place.folder, rules: place.product.profile },
      allow,
    ),
    release: (raw['release'] as string | undefined) ?? UNLABELLED,
    instance: raw['instance'] as string | undefined,
    redis: withRedisFiles(withDefaults(REDIS_DEFAULTS, raw['redis']), pathAt),
    undocumented: { allow: (part('undocumented')['allow'] ?? []) as Settings['undocumented']['allow'] },
    contractStatusHeader: raw['contractStatusHeader'] !== false,
    proxyStatusHeader: raw['proxyStatusHeader'] !== false,
    logging: withDefaults<Settings['logging']>({ level: 'info', principalNames: false }, raw['logging']),
    operations: Object.fromEntries(operations),
    profile: place.product.profile,
    features: place.product.features.map((configurable) => ({
      configurable,
      options:
        configurable.options === undefined
          ? NO_OPTIONS
          : withFiles(
              configurable,
              withSchemaDefaults(configurable.options as PlainObject, valueAt(raw, pointerOf(configurable))),
            ),
    })),
    renamed: place.renamed,
    cwd: place.cwd,
    file: place.file,
    originOf: place.originOf,
    placeOf: place.placeOf,
  };
}
