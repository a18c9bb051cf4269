import type { Contract } from '../contract/load-contract.ts';
import { createSlownessCheck } from '../../lib/backtracking.ts';
import { closestName } from '../../lib/closest-name.ts';
import { escapePointer, keysOf } from '../../lib/json-pointer.ts';
import type { Fault } from '../model/fault.ts';
import type { Operation } from '../model/operation.ts';
import type { RolesFile } from '../permissions/roles-file.ts';
import { usesRedis } from '../sharing/redis/redis-options.ts';
import { UPSTREAM_DEFAULTS } from '../upstream/upstream-options.ts';
import type { Settings } from './settings.ts';
import { featuresInUse } from './configurable.ts';
import type { VerifierKind } from '../identity/verifier.ts';
import { VERIFIERS, verifierOf } from '../identity/verifiers.ts';

/** A setting that has no effect, and why. */
interface Inert {
  readonly pointer: string;
  readonly because: string;
}

/** Returns warnings about explicit settings that can never have an effect, and about unknown names in the settings. */
export function settingWarnings(
  settings: Settings,
  contract: Pick<Contract, 'operations' | 'permissions'>,
  roles: RolesFile,
): readonly Fault[] {
  const { operations } = contract;
  const { permissions } = contract;
  const ofFeatures = featuresInUse(settings).flatMap(
    ({ configurable, options }) => configurable.warn?.(options, { settings, roles, operations, permissions }) ?? [],
  );
  const inert = [
    ...ofFeatures.filter((warning) => 'because' in warning),
    ...globalInert(settings),
    ...operationInert(settings, operations),
    ...allowInert(settings, operations),
  ]
    .filter(({ pointer }) => settings.originOf(pointer) !== 'default')
    // Several features can make an option ineffective for the same reason.
    .filter(
      ({ pointer, because }, index, all) =>
        index === all.findIndex((one) => one.pointer === pointer && one.because === because),
    )
    .map(({ pointer, because }) => ({ pointer, message: `has no effect: ${because}` }));
  return [
    ...renamedKeys(settings),
    ...inert,
    ...slowExpressions(settings),
    ...permissionWarnings(settings, contract, roles),
    ...roleWarnings(settings, roles),
    ...ofFeatures.filter((warning) => 'message' in warning),
  ].map(({ pointer, message }) => Object.assign({}, settings.placeOf(pointer), { message }));
}

/** Returns warnings about keys of earlier versions. */
function renamedKeys({ renamed }: Settings): Pick<Fault, 'pointer' | 'message'>[] {
  return [...Map.groupBy(renamed, ({ from }) => from)].map(([pointer, all]) => {
    const used = all.filter(({ isUsed }) => isUsed);
    const names = (used.length > 0 ? used : all).map(({ to }) => keysOf(to).join('.')).join(' and ');
    const message = used.length > 0 ? `use ${names} instead` : `has no effect, because ${names} is set`;
    return { pointer, message: `is the key of an earlier version: ${message}` };
  });
}

/** Returns warnings about expressions for permission messages that can block the event loop. */
function slowExpressions({ upstream }: Settings): Pick<Fault, 'pointer' | 'message'>[] {
  const slowness = createSlownessCheck();
  return upstream.permissionMessages.flatMap((expression, index) => {
    const isDefault = UPSTREAM_DEFAULTS.permissionMessages.includes(expression);
    const message = isDefault ? undefined : slowness(expression, 'iu');
    return message === undefined ? [] : [{ pointer: `/upstream/permissionMessages/${index}`, message }];
  });
}

const CACHE_KEYS = (
  'freshSeconds staleWhileRevalidateSeconds staleIfErrorSeconds maxEntryBytes gzip zstd store respectUpstream ' +
  'noCacheRoles sampleShared earlyRefresh failures'
).split(' ');

const REDIS_KEYS = (
  'username password passwordFile sealKeyFile previousSealKeyFile tls prefix connectTimeoutMs commandTimeoutMs ' +
  'maxUnsyncedSeconds maxChanges'
).split(' ');

const when = (condition: boolean, because: string, ...pointers: readonly string[]): readonly Inert[] =>
  condition ? pointers.map((pointer) => ({ pointer, because })) : [];

/** Returns the options that only other kinds of verifiers use. */
function unusedOptions(authentication: Settings['authentication']): readonly string[] {
  const { uses } = verifierOf(authentication);
  return Object.values<VerifierKind>(VERIFIERS)
    .flatMap((one) => one.uses)
    .filter((key) => !uses.includes(key));
}

/** Returns the global settings that have no effect because of another setting. */
function globalInert(settings: Settings): readonly Inert[] {
  const { mode, embedded, upstream, authentication, permissions } = settings;
  return [
    ...when(embedded, 'the upstream is the reference server', '/upstream/startupProbe'),
    ...when(mode.transparent, 'observe mode sends no probes', '/upstream/probe'),
    ...when(
      upstream.probe.path === undefined && !mode.transparent,
      'upstream.probe.path is not set',
      '/upstream/probe',
    ),
    ...when(upstream.alternates.length === 0, 'upstream.alternates is empty', '/upstream/ejection'),
    ...when(!isCacheOn(settings), NOTHING_STORED, ...CACHE_KEYS.map((key) => `/cache/${key}`)),
    ...when(
      true,
      `authentication.verifier is ${authentication.verifier}`,
      ...unusedOptions(authentication).map((key) => `/authentication/${key}`),
    ),
    ...when(
      permissions.ownership.lookup === undefined,
      'permissions.ownership.lookup is not set',
      '/permissions/ownership/authorPointer',
    ),
    ...when(
      !usesRedis(settings.redis),
      'no Redis server is configured',
      '/cache/earlyRefresh',
      ...REDIS_KEYS.map((key) => `/redis/${key}`),
    ),
  ];
}

const NOTHING_STORED = 'the mode or cache.enabled prevents storing';

const isCacheOn = ({ mode, cache }: Settings) => !mode.transparent && (cache.enabled ?? mode.cache);

/** Returns the reason why an operation's cache options have no effect, or undefined if they can have an effect. */
function inertCache(settings: Settings, { id, cacheability }: Operation): string | undefined {
  const enabled = settings.operations[id]?.cache?.enabled;
  if (enabled === false) return undefined;
  if (cacheability === undefined) return `responses of ${id} are never stored`;
  if (!isCacheOn(settings)) return NOTHING_STORED;
  return (enabled ?? cacheability.byDefault) ? undefined : `responses of ${id} are stored only with enabled: true`;
}

/** Returns the settings of individual operations that do not apply to those operations. */
function operationInert(settings: Settings, operations: readonly Operation[]): readonly Inert[] {
  return operations.flatMap((operation) => {
    const { id, paging, parameters } = operation;
    const cacheReason = inertCache(settings, operation);
    const own = `/operations/${escapePointer(id)}`;
    const allowed = settings.parameters.allow[id] ?? [];
    const isDocumented = (name: string) =>
      parameters.some((one) => one.location === 'query' && one.acceptance === 'known' && one.name === name);
    const unpaged = `${id} is not paged`;
    return [
      { pointer: `${own}/checks/undocumented`, because: 'the check undocumented does not belong to an operation' },
      ...(paging === undefined
        ? ['/checks/pageBounds', '/pageBounds'].map((key) => ({ pointer: own + key, because: unpaged }))
        : []),
      ...(paging === undefined && typeof settings.cache.defaultPageSize === 'object'
        ? [{ pointer: `/cache/defaultPageSize/${escapePointer(id)}`, because: unpaged }]
        : []),
      ...(cacheReason === undefined ? [] : [{ pointer: `${own}/cache`, because: cacheReason }]),
      ...allowed.flatMap((name, index) =>
        isDocumented(name)
          ? [
              {
                pointer: `/parameters/allow/${escapePointer(id)}/${index}`,
                because: `${name} is a documented parameter of ${id}`,
              },
            ]
          : [],
      ),
    ];
  });
}

const nameless = (path: string) => path.replaceAll(/\{[^{}]*\}|\*(?!\*)/g, '{}');

/**
 * Returns the entries in `undocumented.allow` that have no effect because of a documented operation or an earlier
 * entry.
 */
function allowInert({ undocumented }: Settings, operations: readonly Operation[]): readonly Inert[] {
  const documented = new Map(operations.map((one) => [`${one.method} ${nameless(one.path)}`, one.id]));
  const earlier = new Map<string, number>();
  return undocumented.allow.flatMap(({ method, path }, index) => {
    const pointer = `/undocumented/allow/${index}`;
    const key = nameless(path);
    const id = documented.get(`${method === 'HEAD' ? 'GET' : method} ${key}`);
    if (id !== undefined) return [{ pointer, because: `the request is documented as ${id}` }];
    const before = earlier.get(`* ${key}`) ?? earlier.get(`${method} ${key}`);
    if (before !== undefined) return [{ pointer, because: `/undocumented/allow/${before} allows the same requests` }];
    earlier.set(`${method} ${key}`, index);
    return [];
  });
}

interface Warning {
  readonly pointer: string;
  readonly message: string;
}

const suggestionFor = (name: string, known: readonly string[]) => {
  const near = closestName(name, known);
  return near === undefined ? '' : `; did you mean "${near}"?`;
};

/**
 * Returns warnings about permissions that the contract does not list, and about permissions that no caller can have.
 */
function permissionWarnings(
  { undocumented }: Settings,
  { permissions }: Pick<Contract, 'permissions'>,
  { roles }: RolesFile,
): readonly Warning[] {
  const known = permissions.map(({ name }) => name);
  const granted = new Set([...roles.values()].flatMap((role) => role.permissions));
  return undocumented.allow.flatMap(({ permission }, index) => {
    if (permission === undefined) return [];
    const pointer = `/undocumented/allow/${index}/permission`;
    if (!known.includes(permission))
      return [
        {
          pointer,
          message: `"${permission}" is not a permission in the contract (x-permissions)${suggestionFor(permission, known)}`,
        },
      ];
    return granted.has(permission) ? [] : [{ pointer, message: `no role grants the permission "${permission}"` }];
  });
}

/** Returns warnings about roles that are not in the roles file. */
function roleWarnings({ cache }: Settings, { roles }: RolesFile): readonly Warning[] {
  const known = [...roles.keys()];
  const named = cache.noCacheRoles.map((name, index) => ({ name, pointer: `/cache/noCacheRoles/${index}` }));
  return named.flatMap(({ name, pointer }) =>
    known.includes(name)
      ? []
      : [
          {
            pointer,
            message: `"${name}" is not a role in the roles file${suggestionFor(name, known)}`,
          },
        ],
  );
}
