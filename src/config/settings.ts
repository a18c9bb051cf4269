import type { CacheOptions } from '../cache/cache-options.ts';
import type { OperationCacheConfig } from '../cache/operation-cache-options.ts';
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
import type { LogLevel } from '../telemetry/logger.ts';
import type { UpstreamOptions } from '../upstream/upstream-options.ts';
import type { AllowedPath, ReferenceOptions } from './general-options.ts';
import type { ListenOptions } from './listen-options.ts';
import type { Override } from './environment.ts';

/** What one operation overrides. */
export interface OperationSettings {
  readonly checks?: Partial<Checks>;
  readonly errors?: ErrorStyle;
  readonly cache?: OperationCacheConfig;
  readonly pageBounds?: OperationPagingConfig;
}

/** Where a value comes from. */
export type Origin = Override['kind'] | 'file' | 'default';

/** Where a fault of the configuration is shown: the file with its line, a variable or a flag. */
export type Place = Pick<Fault, 'source' | 'pointer'>;

/** The whole configuration, checked, with every default filled in. */
export interface Settings {
  /** The preset that was chosen, as the table of modes has it. */
  readonly mode: Mode;
  /** The global levels: the preset's with `checks:` over it. */
  readonly checks: Checks;
  /** The levels of one operation; the global ones for undefined and unknown ids. */
  checksFor(operationId: string | undefined): Checks;
  /** The global style of errors. */
  readonly errors: ErrorStyle;
  /** The style of errors of one operation. */
  errorsFor(operationId: string | undefined): ErrorStyle;
  /** True where the reference server is the upstream: no `upstream.url` is configured. */
  readonly embedded: boolean;
  /** Empty, or a path that begins with a slash and does not end with one. */
  readonly publicBasePath: string;
  /** Scheme and host under which clients see the gateway; undefined where each client's own are believed. */
  readonly publicOrigin: string | undefined;
  readonly listen: ListenOptions;
  readonly adminToken: string | undefined;
  readonly upstream: UpstreamOptions;
  readonly rewriteUrls: boolean;
  readonly reference: ReferenceOptions;
  readonly authentication: IdentityOptions;
  /** `file` is an absolute path here. */
  readonly roles: RolesOptions;
  readonly permissions: PermissionsOptions;
  /** Parameters that are let through beside the contract's, by operation id. */
  readonly parameters: { readonly allow: Readonly<Record<string, readonly string[]>> };
  readonly pageBounds: PagingOptions;
  readonly cache: CacheOptions;
  readonly contract: ContractOptions;
  /** The label under which violations are counted. */
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
  /** What single operations override, by id. */
  readonly operations: Readonly<Record<string, OperationSettings>>;
  /** The configuration file as it is named to people. */
  readonly file: string;
  /** Where the value at a JSON pointer (`/listen/port`) comes from. */
  originOf(pointer: string): Origin;
  /** The place to name in faults about the value at a JSON pointer. */
  placeOf(pointer: string): Place;
}

/** The same settings in front of another address; used once the embedded upstream has one. */
export function withUpstreamUrl(settings: Settings, url: string): Settings {
  return { ...settings, upstream: { ...settings.upstream, url } };
}
