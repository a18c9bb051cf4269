import { resolve } from 'node:path';
import { toCacheOptions } from '../cache/cache-options.ts';
import { toCommentsOptions } from '../comments/comments-options.ts';
import { toGdprOptions } from '../gdpr/gdpr-options.ts';
import { IDENTITY_DEFAULTS } from '../identity/identity-options.ts';
import { LADDER_DEFAULTS } from '../ladder/ladder-options.ts';
import { LEARN_DEFAULTS } from '../learn/learn-options.ts';
import { LEDGER_DEFAULTS } from '../ledger/ledger-options.ts';
import { MODES, type ModeName } from '../model/checks.ts';
import { toPagingOptions } from '../paging/paging-options.ts';
import { PERMISSIONS_DEFAULTS, ROLES_DEFAULTS } from '../permissions/permissions-options.ts';
import { UPSTREAM_DEFAULTS } from '../upstream/upstream-options.ts';
import { IN_MEMORY } from '../files/replace-file.ts';
import { toContractOptions } from './contract-key.ts';
import { LISTEN_DEFAULTS } from './listen-options.ts';
import { isPlainObject, withDefaults, type PlainObject } from './plain-object.ts';
import type { OperationSettings, Settings } from './settings.ts';

/** The source of the raw configuration. */
interface ConfigPlace {
  readonly file: string;
  /** The base folder of a relative path to the roles file. */
  readonly folder: string;
  readonly cwd: string;
  readonly originOf: Settings['originOf'];
  readonly placeOf: Settings['placeOf'];
}

const REFERENCE_DEFAULTS: Settings['reference'] = { db: '.portico/reference.db', seed: 1, faults: [] };

/** Applies all defaults; `raw` must be valid under the schema. */
export function toSettings(raw: PlainObject, place: ConfigPlace): Settings {
  const part = (key: string) => (isPlainObject(raw[key]) ? raw[key] : {});
  const upstream = withDefaults(UPSTREAM_DEFAULTS, raw['upstream']);
  const embedded = upstream.url === undefined;
  const mode = MODES[(raw['mode'] as ModeName | undefined) ?? (embedded ? 'strict' : 'observe')];
  const checks = withDefaults(mode.checks, raw['checks']);
  const errors = (raw['errors'] as Settings['errors'] | undefined) ?? mode.errors;
  const operations = new Map(Object.entries(part('operations') as Record<string, OperationSettings>));
  const checksById = new Map([...operations].map(([id, own]) => [id, withDefaults(checks, own.checks)]));
  const roles = withDefaults(ROLES_DEFAULTS, raw['roles']);
  // Paths in flags and variables are relative to the working folder, all others to the configuration file.
  const typed = place.originOf('/roles/file') === 'environment' || place.originOf('/roles/file') === 'flag';
  const rolesFolder = typed ? place.cwd : place.folder;
  const allow = (part('parameters')['allow'] ?? {}) as Settings['parameters']['allow'];
  const reference = withDefaults(REFERENCE_DEFAULTS, raw['reference']);
  // Files that the program writes are relative to the working folder, as the configuration folder may be read-only.
  const withFile = <T extends { readonly file: string }>(defaults: T, key: string): T => {
    const options = withDefaults(defaults, raw[key]);
    return { ...options, file: options.file === IN_MEMORY ? options.file : resolve(place.cwd, options.file) };
  };
  return {
    mode,
    checks,
    checksFor: (id) => (id === undefined ? undefined : checksById.get(id)) ?? checks,
    errors,
    errorsFor: (id) => (id === undefined ? undefined : operations.get(id)?.errors) ?? errors,
    embedded,
    publicOrigin: raw['publicOrigin'] as string | undefined,
    publicBasePath: (raw['publicBasePath'] as string | undefined) ?? '',
    // With the embedded upstream, there is no load balancer that has to notice the shutdown.
    listen: withDefaults(embedded ? { ...LISTEN_DEFAULTS, lameDuckSeconds: 0 } : LISTEN_DEFAULTS, raw['listen']),
    adminToken: raw['adminToken'] as string | undefined,
    upstream,
    rewriteUrls: raw['rewriteUrls'] === true,
    reference: { ...reference, db: reference.db === IN_MEMORY ? reference.db : resolve(place.cwd, reference.db) },
    authentication: withDefaults(
      { ...IDENTITY_DEFAULTS, verifier: embedded ? ('file' as const) : ('upstream' as const) },
      raw['authentication'],
    ),
    roles: { ...roles, file: resolve(rolesFolder, roles.file) },
    permissions: withDefaults(PERMISSIONS_DEFAULTS, raw['permissions']),
    parameters: { allow },
    pageBounds: toPagingOptions(part('pageBounds')),
    cache: toCacheOptions(part('cache')),
    contract: toContractOptions(part('contract'), { embedded, folder: place.folder }, allow),
    release: (raw['release'] as string | undefined) ?? 'unlabelled',
    ledger: withFile(LEDGER_DEFAULTS, 'ledger'),
    ladder: withFile(LADDER_DEFAULTS, 'ladder'),
    learn: withFile(LEARN_DEFAULTS, 'learn'),
    undocumented: { allow: (part('undocumented')['allow'] ?? []) as Settings['undocumented']['allow'] },
    gdpr: toGdprOptions(part('gdpr')),
    comments: toCommentsOptions(part('comments')),
    issueTracker: withDefaults({ enabled: true }, raw['issueTracker']),
    contractStatusHeader: raw['contractStatusHeader'] !== false,
    logging: withDefaults<Settings['logging']>({ level: 'info', principalNames: false }, raw['logging']),
    operations: Object.fromEntries(operations),
    file: place.file,
    originOf: place.originOf,
    placeOf: place.placeOf,
  };
}
