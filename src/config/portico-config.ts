import type { ContractOptions } from '../contract/contract-options.ts';
import type { GdprOptions } from '../gdpr/gdpr-options.ts';
import type { LedgerOptions } from '../ledger/ledger-options.ts';
import type { Checks, ErrorStyle } from '../model/checks.ts';
import type { ModeName } from '../model/modes.ts';
import type { RateLimitRule } from '../model/rate-limit-rule.ts';
import type { RedisOptions } from '../redis/redis-options.ts';
import type { LogLevel } from '../telemetry/logs.ts';
import type { AllowedPath, CorsOptions, ListenOptions } from './general-options.ts';

type Section = Readonly<Record<string, unknown>>;

/**
 * The configuration as passed by a program. It has the same keys as `portico.yaml`, and all keys are optional. The
 * types below cover the most common keys. All values are checked against `config/portico.schema.json`, which contains
 * every key with its type.
 */
export type PorticoConfig = {
  readonly mode?: ModeName;
  readonly checks?: Partial<Checks>;
  readonly errors?: ErrorStyle;
  readonly publicBasePath?: string;
  readonly publicOrigin?: string;
  readonly listen?: Partial<ListenOptions>;
  readonly cors?: Partial<CorsOptions>;
  readonly adminToken?: string;
  readonly adminTokenFile?: string;
  readonly readableSecrets?: 'refuse' | 'allow';
  readonly upstream?: Section & { readonly url?: string };
  readonly rewriteUrls?: boolean;
  readonly rateLimits?: readonly (Omit<RateLimitRule, 'per'> & Partial<Pick<RateLimitRule, 'per'>>)[];
  readonly authentication?: Section & {
    readonly anonymous?: 'deny' | 'allow';
    readonly verifier?: 'file' | 'upstream';
  };
  readonly roles?: Section & { readonly file?: string };
  readonly permissions?: Section;
  readonly parameters?: { readonly allow?: Readonly<Record<string, readonly string[]>> };
  readonly pageBounds?: Section;
  readonly cache?: Section;
  readonly contract?: Partial<Omit<ContractOptions, 'inferred' | 'scanner'>> & {
    readonly inferred?: 'on' | 'off';
    readonly scanner?: 'on' | 'off';
  };
  readonly release?: string;
  readonly instance?: string;
  readonly ledger?: Partial<LedgerOptions>;
  readonly ladder?: Section;
  readonly overrides?: Section;
  readonly learn?: Section;
  readonly redis?: Partial<RedisOptions>;
  readonly workers?: number | 'auto';
  readonly undocumented?: { readonly allow?: readonly AllowedPath[] };
  readonly gdpr?: Partial<GdprOptions>;
  readonly comments?: Section;
  readonly issueTracker?: { readonly enabled?: boolean };
  readonly contractStatusHeader?: boolean;
  readonly proxyStatusHeader?: boolean;
  readonly logging?: { readonly level?: LogLevel; readonly principalNames?: boolean };
  readonly operations?: Readonly<Record<string, Section>>;
};
