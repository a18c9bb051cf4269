import { basename, dirname, join } from 'node:path';
import { pointerTo } from '../../lib/json-pointer.ts';
import { isPlainObject } from '../../lib/plain-object.ts';
import { IN_MEMORY } from '../../lib/replace-file.ts';
import type { CacheOptions, OperationCacheConfig } from '../cache/cache-options.ts';
import type { ContractOptions } from '../contract/contract-options.ts';
import type { IdentityOptions } from '../identity/identity-options.ts';
import type { Operator } from '../identity/operators-options.ts';
import type { Static, TSchema } from 'typebox';
import type { Contract } from '../contract/load-contract.ts';
import type { ErrorKind } from '../errors/catalogue.ts';
import type { Fault } from '../model/fault.ts';
import type { RolesFile } from '../permissions/roles-file.ts';
import type { CheckLevel, Checks, ErrorStyle } from '../model/checks.ts';
import type { Mode } from '../model/modes.ts';
import type { Severity } from '../model/severity.ts';
import type { OperationPagingConfig, PagingOptions } from '../paging/paging-options.ts';
import type { PermissionsOptions } from '../permissions/permissions-options.ts';
import type { RolesOptions } from '../permissions/roles-options.ts';
import type { RedisOptions } from '../sharing/redis/redis-options.ts';
import type { LogLevel } from '../telemetry/logs.ts';
import type { UpstreamOptions } from '../upstream/upstream-options.ts';
import type { Profile } from '../contract/api-profile.ts';
import type { AllowedPath, ListenOptions } from './general-options.ts';

/** The settings that override the global settings for one operation. */
export interface OperationSettings {
  readonly checks?: Partial<Checks>;
  readonly errors?: ErrorStyle;
  readonly cache?: OperationCacheConfig;
  readonly pageBounds?: OperationPagingConfig;
}

/** A value that takes precedence over the configuration file. */
export interface Override {
  /** The name of the variable or flag, as shown in messages. */
  readonly source: string;
  readonly kind: 'environment' | 'flag';
  /** The JSON pointer to the key being set. */
  readonly pointer: string;
  readonly value: unknown;
}

/** A process's environment variables, keyed by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The kind of source that a value comes from. */
export type Origin = Override['kind'] | 'file' | 'default';

/** The location of a configuration error: a line in the file, a variable or a flag. */
export type Place = Pick<Fault, 'source' | 'pointer'>;

/** An error in the configuration. It never includes the invalid value, because the value may be a secret. */
export interface ConfigProblem {
  readonly pointer: string;
  readonly message: string;
  readonly suggestion?: string;
  /** The pointer of the key that was probably meant, if the key is unknown. */
  readonly meant?: string;
  /** The pointer of the other key, if the error is in a combination of two keys. It is untrue if that key is invalid. */
  readonly other?: string;
}

/** What a file contains that an option names. */
type FileContent = 'secret' | 'document' | 'state';

/**
 * The part of a feature that the configuration reads: the key and its options. The schema is the only declaration of
 * the options. The type of the options, the JSON Schema of the file, the defaults and the documentation derive from it.
 * Each property has a `default`, unless it is required or truly optional, and a `description`.
 */
export interface Configurable<Options extends TSchema = TSchema, Prepared = unknown> {
  /**
   * The key in the configuration file. A key in a section of the engine is named with its section: `contract.candidate`
   * is the key `candidate` in the section `contract`.
   */
  readonly name: string;
  /** The schema of the options. If there is none, the feature has no key and is always on. */
  readonly options?: Options;
  /** The errors with which the feature's stages refuse requests. */
  readonly errors?: readonly ErrorKind[];
  /** True if changed options take effect only when the process starts, or the names of the options for which this is so. */
  readonly needsRestart?: boolean | readonly string[];
  /** The keys of earlier versions that options replace. They still work, with a warning. */
  readonly formerKeys?: readonly FormerKey[];
  /** The names of the options that are secrets. Their values never appear in the console or in digests. */
  readonly secretOptions?: readonly string[];
  /**
   * The names of the options that are paths of files or lists of paths, each with what the files contain: a secret, a
   * document that people write, or state that only the gateway writes. An empty name stands for the key itself. The
   * feature gets absolute paths. Paths of state are relative to the working directory, or `:memory:`; the others are
   * relative to the configuration file. In front of the embedded upstream, state at the default path has a folder of its
   * own.
   */
  readonly files?: Readonly<Record<string, FileContent>>;
  /** Returns the options for a walk, which leaves no state behind. If undefined, a walk uses the configured options. */
  forWalk?(options: Static<Options>): Static<Options>;
  /** True if the options name a second server. A walk asks a single server, which may be that one, so it ignores them. */
  readonly namesSecondServer?: boolean;
  /**
   * Returns the environment variables that set options, each with the option's name. Variables that are ignored in the
   * given environment are omitted.
   */
  variables?(environment: Environment): Readonly<Record<string, string>>;
  /** Returns the errors in combinations of options, and in options that contradict other settings. */
  check?(options: Static<Options>, settings: Settings): readonly ConfigProblem[];
  /** Returns the errors that only the contract reveals, such as unknown operations. */
  checkContract?(options: Static<Options>, contract: Pick<Contract, 'operations'>): readonly ConfigProblem[];
  /**
   * Reads what the options name, before anything starts and before each reload. Throws a `StartFault`, which is reported
   * together with the other errors. `start` gets the value. Returns undefined if there is nothing to read. Not called if
   * the feature is off.
   */
  prepare?(context: PrepareContext<Static<Options>, Prepared>): PreparedFeature<Prepared> | undefined;
  /** Returns what commands say about the contract while the feature is on, in a few words each. */
  contractWords?(options: Static<Options>): readonly string[];
  /** The rules that the feature adds to `portico audit`. */
  readonly auditRules?: readonly FeatureAuditRule<Static<Options>, Prepared>[];
  /** Returns explicit options that have no effect, and options that are probably mistakes. */
  warn?(
    options: Static<Options>,
    about: {
      readonly settings: Settings;
      readonly roles: RolesFile;
      readonly operations: Contract['operations'];
      readonly permissions: Contract['permissions'];
    },
  ): readonly Warning[];
}

/** Keys of earlier versions that an option replaces. */
export interface FormerKey {
  /** The keys, such as `ladder.promote`. */
  readonly from: readonly string[];
  /** The option that replaces them, such as `promote`. */
  readonly to: string;
  /**
   * Returns the option's value from those of the keys, in the order of `from`; undefined stands for a key that is not set,
   * and for an option that keeps its default. The result for an invalid value is invalid. Default: the value of the key.
   */
  readonly convert?: (values: readonly unknown[]) => unknown;
}

/** A key of an earlier version that the configuration contains. */
export interface RenamedKey {
  /** The JSON pointer to the key. */
  readonly from: string;
  /** The JSON pointer to the option that replaces it. */
  readonly to: string;
  readonly value: unknown;
  /** False if the option is set, too. The key then has no effect. */
  readonly isUsed: boolean;
}

/** What the engine gives to a feature that prepares itself. */
export interface PrepareContext<Options, Prepared = unknown> {
  readonly options: Options;
  readonly settings: Settings;
  /** What the running gateway prepared earlier. Undefined at startup. */
  readonly earlier: Prepared | undefined;
}

/** What a feature has read. */
export interface PreparedFeature<Prepared = unknown> {
  readonly value: Prepared;
  /** What was read, as messages about a reload name it, such as `the shadow contract`. */
  readonly subject?: string;
  /** A digest of what was read. If it differs after a reload, the feature starts again. */
  readonly version?: string;
  /** Returns problems that do not prevent the start. */
  warnings?(contract: Contract): readonly Fault[];
}

/** What a rule of `portico audit` checks, and what its violation means. */
export interface AuditRuleFacts {
  /** The rule name used in reports and pipelines. */
  readonly id: string;
  readonly severity: Severity;
  /** The JSON pointer to the configuration key that the rule checks. */
  readonly key: string;
  /** True if the rule applies only to a real upstream, not to the embedded reference server. */
  readonly realOnly?: true;
  /** The damage that an attacker or an outage could cause. */
  readonly risk: string;
  readonly fix: string;
}

/** A rule that a feature adds to `portico audit`. The rule applies while the feature is on. */
export interface FeatureAuditRule<Options = unknown, Prepared = unknown> extends AuditRuleFacts {
  /** Returns one description for each violation of the rule, or an empty list if there are none. */
  find(options: Options, settings: Settings, stored: AuditedState<Prepared>): readonly string[];
}

/** What a rule may look at besides the configuration. */
export interface AuditedState<Prepared = unknown> {
  /** What the feature's `prepare` has read. */
  readonly prepared: Prepared | undefined;
  readonly contract: Pick<Contract, 'version'>;
  /** The current time, in epoch milliseconds. */
  readonly now: number;
}

/** A warning about an option, or the reason why an explicit option has no effect. */
export type Warning = {
  /** The JSON pointer to the option. */
  readonly pointer: string;
} & (
  | { readonly message: string }
  | {
      /** Why the option has no effect. The warning is shown only if the option is set. */
      readonly because: string;
    }
);

/**
 * A feature's options as configured, with all defaults. Undefined if the feature is off: its key is not set, and its
 * schema has no default.
 */
export interface Configured {
  readonly configurable: Configurable;
  readonly options: unknown;
}

/** The complete configuration. It is valid and contains all defaults. */
export interface Settings {
  /** The profile of the API. */
  readonly profile: Profile;
  /** The selected preset. */
  readonly mode: Mode;
  /** The global check levels. These are the mode's levels unless `checks` overrides them. */
  readonly checks: Checks;
  /** Returns an operation's check levels, or the global levels if the id is unknown or undefined. */
  checksFor(operationId: string | undefined): Checks;
  /** The global error response style. */
  readonly errors: ErrorStyle;
  /** Returns an operation's error response style. */
  errorsFor(operationId: string | undefined): ErrorStyle;
  /**
   * Returns the level of the translation of an operation's errors: `enforce` if they are normalized. Otherwise, `report`
   * if they are kept only because the mode forwards everything unchanged, and `off` if they are kept on purpose.
   */
  translationFor(operationId: string): CheckLevel;
  /** True if the reference server is the upstream because `upstream.url` is not set. */
  readonly embedded: boolean;
  /**
   * True for a walk (`portico check --against`). If true, the `upstream` limits apply in every mode, so that the walk
   * ends even when the server does not respond.
   */
  readonly isWalk?: boolean;
  /** The public side's path prefix. It is empty, or it starts with a slash and does not end with one. */
  readonly publicBasePath: string;
  /** The scheme and host that clients use. If undefined, each request's own scheme and host are used. */
  readonly publicOrigin: string | undefined;
  readonly listen: ListenOptions;
  /** The admin side's token. It comes from `adminToken` or from the file specified by `adminTokenFile`. */
  readonly adminToken: string | undefined;
  /** The people and programs that sign in to the admin side with a password of their own. */
  readonly operators: readonly Operator[];
  /** The absolute path of the file that contains the token. */
  readonly adminTokenFile: string | undefined;
  /**
   * What happens if every user on the machine can read a file that contains a secret: `refuse` prevents the gateway
   * from starting with a real upstream.
   */
  readonly readableSecrets: 'refuse' | 'allow';
  readonly upstream: UpstreamOptions;
  readonly rewriteUrls: boolean;
  readonly authentication: IdentityOptions;
  /** The options for the roles file. `file` is an absolute path. */
  readonly roles: RolesOptions;
  readonly permissions: PermissionsOptions;
  /** The parameters allowed in addition to those in the contract, keyed by operation id. */
  readonly parameters: { readonly allow: Readonly<Record<string, readonly string[]>> };
  readonly pageBounds: PagingOptions;
  readonly cache: CacheOptions;
  readonly contract: ContractOptions;
  /** The release label stored with violations. */
  readonly release: string;
  /** The name of this instance in the fleet. Undefined if the name is derived from the host name. */
  readonly instance: string | undefined;
  /** The options for the Redis server through which gateways share their state. */
  readonly redis: RedisOptions;
  readonly undocumented: { readonly allow: readonly AllowedPath[] };
  readonly contractStatusHeader: boolean;
  readonly proxyStatusHeader: boolean;
  readonly logging: { readonly level: LogLevel; readonly principalNames: boolean };
  /** The settings of individual operations, keyed by operation id. */
  readonly operations: Readonly<Record<string, OperationSettings>>;
  /** The options of the features, in the order of the features. */
  readonly features: readonly Configured[];
  /** The keys of earlier versions that the configuration file contains. */
  readonly renamed: readonly RenamedKey[];
  /** The working directory, to which the paths of state files are relative. */
  readonly cwd: string;
  /** The name of the configuration file, as shown in messages. */
  readonly file: string;
  /** Returns the kind of source for the value at a JSON pointer such as `/listen/port`. */
  originOf(pointer: string): Origin;
  /** Returns the location to report in errors about the value at a JSON pointer. */
  placeOf(pointer: string): Place;
}

/** The folder for the state of the demo, inside the folder of each state file. */
const DEMO_FOLDER = 'demo';

/**
 * Returns the settings with which a gateway runs in front of the embedded upstream: every state whose place is not
 * configured has a place of its own. Otherwise, the first report on a real server would show the demo's violations, and
 * the demo's promotions, overrides and samples would apply to the real server. If there is a real upstream, returns the
 * settings unchanged.
 */
export function withDemoState(settings: Settings): Settings {
  if (!settings.embedded) return settings;
  const { features, originOf } = settings;
  const ownPath = (pointer: string, path: string) =>
    originOf(pointer) === 'default' && path !== IN_MEMORY ? join(dirname(path), DEMO_FOLDER, basename(path)) : path;
  return {
    ...settings,
    features: features.map(({ configurable, options }) => ({
      configurable,
      options: withFilePaths(configurable, options, ['state'], ownPath),
    })),
  };
}

/** Returns a feature's options with other paths for its files with the given contents. */
export function withFilePaths(
  { name, files = {} }: Configurable,
  options: unknown,
  contents: readonly FileContent[],
  change: (pointer: string, path: string) => string,
): unknown {
  const own = files[''];
  if (typeof options === 'string' && own !== undefined && contents.includes(own))
    return change(pointerTo(name.split('.')), options);
  if (!isPlainObject(options)) return options;
  const paths = Object.entries(files).flatMap(([key, content]) => {
    const given = options[key];
    const at = (path: unknown) =>
      typeof path === 'string' ? change(pointerTo([...name.split('.'), key]), path) : path;
    if (given === undefined || !contents.includes(content)) return [];
    return [[key, Array.isArray(given) ? given.map(at) : at(given)] as const];
  });
  return { ...options, ...Object.fromEntries(paths) };
}

/** Returns a copy of the settings with a different upstream URL, such as the embedded upstream's. */
export function withUpstreamUrl(settings: Settings, url: string): Settings {
  return { ...settings, upstream: { ...settings.upstream, url } };
}

/** Returns whether operators must sign in to the admin side. Changes on the console's pages are possible only then. */
export const needsSignIn = ({ adminToken, operators }: Pick<Settings, 'adminToken' | 'operators'>): boolean =>
  adminToken !== undefined || operators.length > 0;
