import { isIP } from 'node:net';
import { audienceFault, toOperationCacheOptions } from '../cache/cache-options.ts';
import { closestName } from '../../lib/closest-name.ts';
import { escapePointer } from '../../lib/json-pointer.ts';
import type { Fault } from '../model/fault.ts';
import type { Operation } from '../model/operation.ts';
import { demoAccounts, type RolesFile } from '../permissions/roles-file.ts';
import { isReservedHeader } from '../upstream/response-headers.ts';
import { parseUpstreamUrl, type UpstreamAddress } from '../upstream/upstream-url.ts';
import { serviceAuthorization } from '../upstream/upstream-options.ts';
import type { ConfigProblem, Environment, Settings } from './settings.ts';
import { parsePhcHash } from '../identity/password-hash.ts';
import { isPlainObject } from '../../lib/plain-object.ts';
import { featuresInUse } from './configurable.ts';
import { verifierOf } from '../identity/verifiers.ts';

/** Returns the errors in combinations of keys whose individual values are valid. */
export function crossFaults(settings: Settings, env: Environment): readonly ConfigProblem[] {
  return [
    ...upstreamFaults(settings, env),
    ...responseHeaderFaults(settings),
    ...serviceFaults(settings),
    ...observeFaults(settings),
    ...listenFaults(settings),
    ...operatorFaults(settings),
    ...basePathFaults(settings),
    ...audienceFaults(settings),
    ...redisFaults(settings),
    ...featuresInUse(settings).flatMap(({ configurable, options }) => configurable.check?.(options, settings) ?? []),
  ];
}

function upstreamFaults(settings: Settings, env: Environment): ConfigProblem[] {
  const { url, alternates, credentials } = settings.upstream;
  const problems: ConfigProblem[] = [];
  const parsed = url === undefined ? undefined : parseUpstreamUrl(url, { source: '', pointer: '/upstream/url' });
  if (parsed !== undefined && 'faults' in parsed) problems.push(...parsed.faults);
  problems.push(
    ...alternateFaults(alternates, parsed !== undefined && 'address' in parsed ? parsed.address : undefined),
  );
  const authorization = serviceAuthorization(credentials, env);
  if ('fault' in authorization) problems.push({ pointer: '/upstream/credentials', message: authorization.fault });
  return problems;
}

function responseHeaderFaults({ upstream: { responseHeaders } }: Settings): ConfigProblem[] {
  return responseHeaders.flatMap((name, index) =>
    isReservedHeader(name)
      ? [
          {
            pointer: `/upstream/responseHeaders/${index}`,
            message: `${name} cannot be listed, because Portico itself decides about this header`,
            suggestion: 'remove the name',
          },
        ]
      : [],
  );
}

/**
 * Returns the errors in the upstream's additional addresses. Each address must be valid and compatible with the first
 * one.
 */
function alternateFaults(alternates: readonly string[], first: UpstreamAddress | undefined): ConfigProblem[] {
  const origins = new Set(first && [first.origin]);
  return alternates.flatMap((text, index): ConfigProblem[] => {
    const pointer = `/upstream/alternates/${index}`;
    const parsed = parseUpstreamUrl(text, { source: '', pointer });
    if ('faults' in parsed) return [...parsed.faults];
    const { origin, basePath } = parsed.address;
    if (first === undefined)
      return [{ pointer, message: 'needs upstream.url, which is the first address', suggestion: 'set upstream.url' }];
    if (basePath !== first.basePath)
      return [
        {
          pointer,
          message: `has a different path prefix than upstream.url, which has ${first.basePath || 'none'}`,
          suggestion: `${origin}${first.basePath}`,
        },
      ];
    if (origins.has(origin)) return [{ pointer, message: 'is the same address as an earlier one' }];
    origins.add(origin);
    return [];
  });
}

// All callers share the service account, so the gateway itself must check every request (docs/rules.md §2).
function serviceFaults(settings: Settings): ConfigProblem[] {
  if (settings.upstream.credentials.kind !== 'service') return [];
  const scopes = [undefined, ...Object.keys(settings.operations)];
  return scopes.flatMap((id) =>
    (['authentication', 'permissions'] as const)
      .filter((check) => settings.checksFor(id)[check] !== 'enforce')
      .filter((check) => id === undefined || settings.operations[id]?.checks?.[check] !== undefined)
      .map((check) => ({
        pointer: id === undefined ? `/checks/${check}` : `/operations/${id}/checks/${check}`,
        other: '/upstream/credentials/kind',
        message: `is ${settings.checksFor(id)[check]}, but upstream.credentials is a service account, which requires enforce`,
        suggestion: `mode: strict or staging, or upstream.credentials.kind: forward`,
      })),
  );
}

// In `observe` mode, Portico neither changes nor stores responses (docs/rules.md §1).
function observeFaults(settings: Settings): ConfigProblem[] {
  if (!settings.mode.transparent) return [];
  const suggestion = 'mode: staging';
  const message = `cannot be on in ${settings.mode.name} mode, which does not change or store responses`;
  return [
    ...(settings.cache.enabled === true ? [{ pointer: '/cache/enabled', message, suggestion }] : []),
    ...(settings.rewriteUrls ? [{ pointer: '/rewriteUrls', message, suggestion }] : []),
  ];
}

function listenFaults(settings: Settings): ConfigProblem[] {
  const { listen } = settings;
  const problems: ConfigProblem[] = [];
  if (listen.port !== 0 && listen.port === listen.adminPort)
    problems.push({
      pointer: '/listen/adminPort',
      other: '/listen/port',
      message: `is also the public port (${listen.port})`,
    });
  if (listen.headersTimeoutSeconds > listen.requestTimeoutSeconds)
    problems.push({
      pointer: '/listen/headersTimeoutSeconds',
      other: '/listen/requestTimeoutSeconds',
      message: 'is longer than requestTimeoutSeconds',
    });
  listen.trustedProxies.forEach((proxy, index) => {
    if (!isNetwork(proxy))
      problems.push({
        pointer: `/listen/trustedProxies/${index}`,
        message: 'is neither an address nor a network',
        suggestion: 'for example 10.0.0.0/8 or loopback',
      });
  });
  return problems;
}

function operatorFaults({ operators }: Settings): ConfigProblem[] {
  const names = operators.map(({ name }) => name);
  return operators.flatMap(({ name, passwordHash }, index) => [
    ...(names.indexOf(name) < index
      ? [{ pointer: `/operators/${index}/name`, message: 'is the name of an earlier operator' }]
      : []),
    ...(parsePhcHash(passwordHash) === undefined
      ? [
          {
            pointer: `/operators/${index}/passwordHash`,
            message: 'is not an argon2id hash within bounds',
            suggestion: 'create one with: portico hash-password',
          },
        ]
      : []),
  ]);
}

function isNetwork(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  const [address = '', prefix, ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

function basePathFaults({ profile, publicBasePath }: Settings): ConfigProblem[] {
  const base = profile.basePath.slice(0, -1);
  const [, first = ''] = base.split('/');
  if (!publicBasePath.startsWith(`/${first}/`) && publicBasePath !== base) return [];
  return [
    {
      pointer: '/publicBasePath',
      message: `is the path prefix of ${base}, not ${base} itself`,
      suggestion: `omit it if clients call ${base} at the root`,
    },
  ];
}

function audienceFaults(settings: Settings): ConfigProblem[] {
  const usesServiceCredential = settings.upstream.credentials.kind === 'service';
  return Object.entries(settings.operations).flatMap(([id, own]) => {
    const options = toOperationCacheOptions(settings.cache, { byDefault: true, on: settings.mode.cache }, own.cache);
    const pointer = `/operations/${id}/cache/audience`;
    const fault = audienceFault(options, { source: '', pointer, usesServiceCredential });
    return fault === undefined ? [] : [{ ...fault, other: '/upstream/credentials/kind' }];
  });
}

/** The maximum interval between reads of the log of changes, in milliseconds. */
const CHANGES_MS = 500;

function redisFaults({ redis }: Settings): ConfigProblem[] {
  const { sentinel, cluster, tls, password, passwordFile, commandTimeoutMs, maxUnsyncedSeconds } = redis;
  const problems: ConfigProblem[] = [];
  const servers = (['url', 'urlFile', 'sentinel', 'cluster'] as const).filter((key) => redis[key] !== undefined);
  const [first, ...others] = servers;
  for (const key of others)
    problems.push({
      pointer: `/redis/${key}`,
      other: `/redis/${first ?? ''}`,
      message: `is set in addition to redis.${first ?? ''}; only one of url, urlFile, sentinel and cluster can be used`,
      suggestion: 'remove one of them; REDIS_URL and REDIS_URL_FILE count too',
    });
  if (password !== undefined && passwordFile !== undefined)
    problems.push({ pointer: '/redis/passwordFile', message: 'is set in addition to redis.password; set only one' });
  for (const [key, other] of [
    ['certFile', 'keyFile'],
    ['keyFile', 'certFile'],
  ] as const)
    if (tls?.[key] !== undefined && tls[other] === undefined)
      problems.push({
        pointer: `/redis/tls/${key}`,
        other: `/redis/tls/${other}`,
        message: `needs redis.tls.${other}`,
        suggestion: 'set both or none',
      });
  for (const [key, nodes = []] of [
    ['sentinel', sentinel?.nodes],
    ['cluster', cluster?.nodes],
  ] as const)
    nodes.forEach((node, index) => {
      if (URL.canParse(`redis://${node}`)) return;
      problems.push({
        pointer: `/redis/${key}/nodes/${index}`,
        message: 'is not a host and a port',
        suggestion: 'for example redis-1.internal:6379',
      });
    });
  if (commandTimeoutMs + CHANGES_MS >= maxUnsyncedSeconds * 1000)
    problems.push({
      pointer: '/redis/maxUnsyncedSeconds',
      other: '/redis/commandTimeoutMs',
      message: 'is too short: a gateway with a slow Redis would never count as in sync',
      suggestion: `more than ${(commandTimeoutMs + CHANGES_MS) / 1000}, or a shorter redis.commandTimeoutMs`,
    });
  return problems;
}

/** Returns an error for each key that refers to an unknown operation. */
export function operationFaults(settings: Settings, operationIds: readonly string[]): readonly Fault[] {
  const known = new Set(operationIds);
  const named = [
    ...keysUnder('/operations', settings.operations),
    ...keysUnder('/parameters/allow', settings.parameters.allow),
    ...keysUnder('/cache/defaultPageSize', settings.cache.defaultPageSize),
  ];
  const faults: Fault[] = [];
  for (const { id, pointer } of named) {
    if (known.has(id)) continue;
    const near = closestName(id, operationIds);
    faults.push({
      ...settings.placeOf(pointer),
      message: `${id.slice(0, 100)} is not an operation in the contract`,
      ...(near !== undefined && { suggestion: `did you mean ${near}?` }),
    });
  }
  return faults;
}

/**
 * Returns an error for each setting that enforces permissions in `observe` mode for an operation with private fields.
 * This mode does not change responses, so callers without the permission would still receive the private fields
 * (docs/rules.md §3).
 */
export function redactionFaults(
  settings: Settings,
  operations: readonly Pick<Operation, 'id' | 'privateFields'>[],
): readonly Fault[] {
  if (!settings.mode.transparent) return [];
  const pointers = operations
    .filter(({ id, privateFields }) => privateFields !== undefined && settings.checksFor(id).permissions === 'enforce')
    .map(({ id }) => {
      const own = settings.operations[id]?.checks?.permissions !== undefined;
      return own ? `/operations/${escapePointer(id)}/checks/permissions` : '/checks/permissions';
    });
  const message = `is enforce, but the mode ${settings.mode.name} does not remove private fields from responses`;
  const suggestion = 'mode: staging, or permissions: report on operations that return private fields';
  return [...new Set(pointers)].map((pointer) => Object.assign({ message, suggestion }, settings.placeOf(pointer)));
}

function keysUnder(pointer: string, value: unknown): { id: string; pointer: string }[] {
  if (!isPlainObject(value)) return [];
  return Object.keys(value).map((id) => ({ id, pointer: `${pointer}/${escapePointer(id)}` }));
}

/**
 * Returns an error that lists the demo accounts if they could be used with a real upstream, or an empty list otherwise.
 */
export function demoAccountFaults(settings: Settings, roles: RolesFile): readonly Fault[] {
  const names = demoAccounts(roles);
  if (settings.embedded || !verifierOf(settings.authentication).readsPasswords || names.length === 0) return [];
  return [
    {
      source: roles.source,
      pointer: '/accounts',
      message: `demo accounts with public passwords would have access to a real upstream: ${names.join(', ')}`,
      suggestion: 'remove them from the roles file, or use authentication.verifier: upstream',
    },
  ];
}
