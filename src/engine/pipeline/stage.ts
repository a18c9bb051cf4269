import type { ItemFacts } from '../contract/api-profile.ts';
import type { OperationCacheOptions } from '../cache/cache-options.ts';
import type { CheckLevel, CheckName, Checks, ErrorStyle } from '../model/checks.ts';
import type { InForce } from '../model/in-force.ts';
import type { Operation } from '../model/operation.ts';
import type { Exchange, PassthroughExchange } from './exchange.ts';
import type { Grants } from '../permissions/decide.ts';
import type { ResponseHeaders } from '../upstream/response-headers.ts';
import type { Reply } from './reply.ts';

/**
 * Returns the reply to an exchange, or throws. The result is synchronous if nothing needs to be awaited, for example
 * because the page is stored. `E` is the type of the exchange. Exchanges for documented operations have decoded
 * parameters.
 */
export type Handler<E = Exchange> = (exchange: E) => Reply | Promise<Reply>;

/** A stage of a plan. It wraps the handler that runs the rest of the plan. */
export type Stage<E = Exchange> = (next: Handler<E>) => Handler<E>;

/** The names of the engine's stages, outermost first. */
export const ENGINE_STAGES = [
  'refuse-disabled',
  'authorize',
  'validate-body',
  'bound-page',
  'purge-tags',
  'redact-fields',
  'rewrite-addresses',
  'cache-page',
  'coalesce',
  'isolate-page',
  'translate-failure',
  'validate-response',
  'forward',
] as const;

/** The name of one of the engine's stages. */
type StageName = (typeof ENGINE_STAGES)[number];

/** A stage that a feature adds to plans. */
export interface FeatureStage {
  readonly name: string;
  /** The stage of the engine that this stage precedes. */
  readonly before: StageName;
  /** Returns the stage for an operation, or undefined if the operation does not need it. */
  plan(planned: PlannedOperation): Stage | undefined;
  /** Returns the stage for undocumented paths, or undefined if they do not need it. */
  planUndocumented?(planned: PlannedPassthrough): Stage<PassthroughExchange> | undefined;
}

/** What a feature's stage needs to know about the plan for undocumented paths. */
export interface PlannedPassthrough {
  /** True if requests and responses are forwarded unchanged, as in `observe` mode. */
  readonly transparent: boolean;
  /** Returns what the caller may do. */
  grantsOf(exchange: PassthroughExchange): Grants;
}

/** Decides whether an operation needs a stage. The `plan` method returns undefined if it does not. */
export interface StagePlanner {
  readonly name: string;
  /** The check that the stage applies, if it applies one. */
  readonly check?: CheckName;
  plan(planned: PlannedOperation): Stage | undefined;
}

/** An operation with its configuration, before its plan is compiled. */
export interface PlannedOperation extends Partial<InForce> {
  readonly operation: Operation;
  /** What the API's profile says of the items in responses. */
  readonly items: ItemFacts;
  readonly checks: Checks;
  readonly errors: ErrorStyle;
  /**
   * What the translation of errors does: `enforce` if errors are normalized, `report` if it is only foretold, as in
   * `observe` mode, and `off` if somebody has decided to keep the upstream's errors.
   */
  readonly translation: CheckLevel;
  /** True if requests and responses are forwarded unchanged, as in `observe` mode. */
  readonly transparent: boolean;
  /** True if a service account is used instead of the caller's credential. */
  readonly serviceCredential: boolean;
  readonly maxPageSize: number;
  /** The page size that the upstream uses if `pageSize` is absent. Undefined if it is unknown. */
  readonly defaultPageSize: number | undefined;
  /**
   * An identifier of everything that determines which pages may be stored and what a stored page means. It is part of
   * the keys for stored pages and page counts, so a page is served after a reload only if its meaning has not changed.
   */
  readonly pageVersion: string;
  /** The rules for the headers of responses to clients. */
  readonly responseHeaders: ResponseHeaders;
  /** The cache options. Undefined if the operation's responses are not stored. */
  readonly cache: OperationCacheOptions | undefined;
}

/** An operation whose responses are stored. */
export interface StoredOperation extends PlannedOperation {
  readonly cache: OperationCacheOptions;
}
