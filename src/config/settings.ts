import type { CacheOptions, OperationCacheConfig } from '../cache/cache-options.ts';
import type { CommentsOptions } from '../comments/comments-options.ts';
import type { ContractOptions } from '../contract/contract-options.ts';
import type { GdprOptions } from '../gdpr/gdpr-options.ts';
import type { IdentityOptions } from '../identity/identity-options.ts';
import type { LadderOptions } from '../ladder/ladder-options.ts';
import type { LearnOptions } from '../learn/learn-options.ts';
import type { LedgerOptions } from '../ledger/ledger-options.ts';
import type { Fault } from '../model/fault.ts';
import type { Checks, ErrorStyle, Mode } from '../model/checks.ts';
import type { OperationPagingConfig, PagingOptions } from '../paging/paging-options.ts';
import type { PermissionsOptions, RolesOptions } from '../permissions/permissions-options.ts';
import type { LogLevel } from '../telemetry/logs.ts';
import type { UpstreamOptions } from '../upstream/upstream-options.ts';
import type { AllowedPath, ListenOptions, ReferenceOptions } from './general-options.ts';
import type { Override } from './environment.ts';

/** The overrides of one operation. */
export interface OperationSettings {
  readonly checks?: Partial<Checks>;
  readonly errors?: ErrorStyle;
  readonly cache?: OperationCacheConfig;
  readonly pageBounds?: OperationPagingConfig;
}

/** The source of a value. */
export type Origin = Override['kind'] | 'file' | 'default';

/** The place of a configuration error: the file with its line, a variable or a flag. */
export type Place = Pick<Fault, 'source' | 'pointer'>;

/** The complete configuration, validated and with all defaults. */
export interface Settings {
  /** The selected preset. */
  readonly mode: Mode;
  /** The global levels: those of the preset, overridden by `checks:`. */
  readonly checks: Checks;
  /** Returns the levels of one operation, or the global levels for undefined and unknown ids. */
  checksFor(operationId: string | undefined): Checks;
  /** The global style of errors. */
  readonly errors: ErrorStyle;
  /** Returns the style of errors of one operation. */
  errorsFor(operationId: string | undefined): ErrorStyle;
  /** Whether the reference server is the upstream, because `upstream.url` is not set. */
  readonly embedded: boolean;
  /** Empty, or a path with a leading slash and without a trailing one. */
  readonly publicBasePath: string;
  /** The scheme and host that clients use; undefined means those of each request. */
  readonly publicOrigin: string | undefined;
  readonly listen: ListenOptions;
  readonly adminToken: string | undefined;
  readonly upstream: UpstreamOptions;
  readonly rewriteUrls: boolean;
  readonly reference: ReferenceOptions;
  readonly authentication: IdentityOptions;
  /** `file` is an absolute path. */
  readonly roles: RolesOptions;
  readonly permissions: PermissionsOptions;
  /** Parameters that are allowed in addition to those of the contract, by operation id. */
  readonly parameters: { readonly allow: Readonly<Record<string, readonly string[]>> };
  readonly pageBounds: PagingOptions;
  readonly cache: CacheOptions;
  readonly contract: ContractOptions;
  /** The release label of recorded violations. */
  readonly release: string;
  readonly ledger: LedgerOptions;
  readonly ladder: LadderOptions;
  readonly learn: LearnOptions;
  readonly undocumented: { readonly allow: readonly AllowedPath[] };
  readonly gdpr: GdprOptions;
  readonly comments: CommentsOptions;
  readonly issueTracker: { readonly enabled: boolean };
  readonly contractStatusHeader: boolean;
  readonly logging: { readonly level: LogLevel; readonly principalNames: boolean };
  /** Overrides for individual operations, by id. */
  readonly operations: Readonly<Record<string, OperationSettings>>;
  /** The name of the configuration file in messages. */
  readonly file: string;
  /** Returns the source of the value at a JSON pointer (`/listen/port`). */
  originOf(pointer: string): Origin;
  /** Returns the place for errors about the value at a JSON pointer. */
  placeOf(pointer: string): Place;
}

/** Returns a copy with another upstream URL, for example that of the started embedded upstream. */
export function withUpstreamUrl(settings: Settings, url: string): Settings {
  return { ...settings, upstream: { ...settings.upstream, url } };
}
