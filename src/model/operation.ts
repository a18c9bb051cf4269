import type { Requirement } from './requirement.ts';

/** The methods of documented operations; HEAD is supported wherever GET is. */
export type OperationMethod = 'GET' | 'POST' | 'PUT';

/** How well a fact of the contract is known. */
export type Provenance = 'observed' | 'inferred' | 'not shown';

/** The type to which the text of a parameter is parsed before the generated schema validates it. */
type ParameterType = 'integer' | 'boolean' | 'text';

/** One parameter of an operation. */
export interface Parameter {
  readonly name: string;
  readonly location: 'path' | 'query';
  readonly type: ParameterType;
  /** True for 64-bit ids; other integers have at most nine digits. */
  readonly wide: boolean;
  /** True if the parameter may occur only once, so that a repetition is refused. */
  readonly single: boolean;
  /** `report` marks parameters that are counted as undocumented but never refused. */
  readonly acceptance: 'known' | 'report';
  readonly provenance: Provenance;
}

/** A part of the legacy service that a deployment may not have. */
export type Feature = 'issue-tracker';

/** Where the items of a response are: the whole body, its elements, or the elements of one member. */
export type ItemsAt = 'body' | 'elements' | 'list' | 'actions';

/** Paging of an operation that takes `page` and `pageSize`. */
export interface Paging {
  /** The page number that an absent `page` means: 1, or 0 for follower lists. */
  readonly firstPage: 0 | 1;
  /** The page size observed when none was requested; only a hint, never part of a cache key. */
  readonly observedPageSize: number | undefined;
  /** False if responses have no `pageCount` (operation 7). */
  readonly hasPageCount: boolean;
}

/** The request body of an operation. */
interface RequestBody {
  readonly required: boolean;
}

/** An error that the specification documents for an operation. */
export interface DocumentedError {
  readonly status: number;
  readonly text: string;
}

/** One operation of the contract, as plain data; the compiled contract contains its validators. */
export interface Operation {
  /** The operationId, for example `listQuestions`. */
  readonly id: string;
  /** The row in the specification's endpoint table; undefined for inferred operations. */
  readonly row: number | undefined;
  readonly method: OperationMethod;
  /** The path template under the base address, for example `/services/v2/comment/{commentId}.json`. */
  readonly path: string;
  readonly summary: string;
  readonly since: string | undefined;
  readonly provenance: Provenance;
  /** True if a credential is needed even when anonymous callers are allowed (rules, 2). */
  readonly needsCredential: boolean;
  /** True if a service account may act for the caller (rules, 2). */
  readonly identityIndependent: boolean;
  readonly requires: Requirement | undefined;
  /** The part of the legacy service that the operation needs (operation 3); undefined for the others. */
  readonly needsFeature: Feature | undefined;
  /** True if the requested object can be private, so that a denial gives no information about the caller's permissions. */
  readonly mayBePrivate: boolean;
  readonly parameters: readonly Parameter[];
  /** `report` if unknown parameters are counted but never refused (operation 7). */
  readonly unknownParameters: 'refuse' | 'report';
  readonly itemsAt: ItemsAt;
  readonly paging: Paging | undefined;
  /** Whether and how responses may be stored; undefined if they never are. */
  readonly cacheability:
    | {
        /** False for operations that are not cached unless configured (5 and 7). */
        readonly byDefault: boolean;
        /** Tags of every stored response; `{name}` is replaced with a path parameter. */
        readonly tags: readonly string[];
      }
    | undefined;
  /** Tags that a success of this operation purges; `{name}` is replaced with a path parameter. */
  readonly purges: readonly string[];
  /** True if responses can contain `visibility` and `recipients` (4, 5, 16, comment writes). */
  readonly carriesPrivateFields: boolean;
  /** Names of the semantic rules for responses (rules, 7). */
  readonly semanticRules: readonly string[];
  /** Names of the semantic rules for request bodies (`gdpr-csv`, `comment-visibility`). */
  readonly requestRules: readonly string[];
  readonly requestBody: RequestBody | undefined;
  /** Documented response statuses, ascending. */
  readonly statuses: readonly number[];
  readonly documentedErrors: readonly DocumentedError[];
  /** Names of the top-level fields of a success; empty for bare arrays. */
  readonly documentedFields: readonly string[];
}
