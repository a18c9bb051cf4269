import type { Requirement } from './requirement.ts';

/** The methods that documented operations use; HEAD is answered wherever GET is. */
export type OperationMethod = 'GET' | 'POST' | 'PUT';

/** How a fact of the contract is known. */
export type Provenance = 'observed' | 'inferred' | 'not shown';

/** What the text of a parameter must be before the generated schema sees its value. */
export type ParameterType = 'integer' | 'boolean' | 'text';

/** One parameter of an operation. */
export interface Parameter {
  readonly name: string;
  readonly location: 'path' | 'query';
  readonly type: ParameterType;
  /** True for 64-bit ids; other integers have at most nine digits. */
  readonly wide: boolean;
  /** True where the parameter is known to occur once, so that a repetition is refused. */
  readonly single: boolean;
  /** `report` marks parameters that are counted as undocumented but never refused. */
  readonly acceptance: 'known' | 'report';
  readonly provenance: Provenance;
}

/** A part of the legacy service that a deployment may not have. */
export type Feature = 'issue-tracker';

/** Where the items of an answer are: the whole body, the elements of it, or the elements of one member. */
export type ItemsAt = 'body' | 'elements' | 'list' | 'actions';

/** Paging of an operation that takes `page` and `pageSize`. */
export interface Paging {
  /** The number of the page that an absent `page` means: 1, or 0 for follower lists. */
  readonly firstPage: 0 | 1;
  /** The page size seen when none was asked for; a hint only, never merged into a cache key. */
  readonly observedPageSize: number | undefined;
  /** False where answers carry no `pageCount` (operation 7). */
  readonly hasPageCount: boolean;
}

/** Whether and how answers of an operation may be kept. */
export interface Cacheability {
  /** False for operations that can be switched on but are not kept by default (5 and 7). */
  readonly byDefault: boolean;
  /** Tags of every kept page; `{name}` stands for a path parameter. */
  readonly tags: readonly string[];
}

/** The body that a request of an operation carries. */
export interface RequestBody {
  readonly required: boolean;
}

/** An error text that the specification documents for an operation. */
export interface DocumentedError {
  readonly status: number;
  readonly text: string;
}

/** One operation of the contract, as plain data; validators are beside it in the compiled contract. */
export interface Operation {
  /** The operationId, for example `listQuestions`. */
  readonly id: string;
  /** The row of the specification's endpoint table, 1 to 16; undefined for the two comment writes. */
  readonly row: number | undefined;
  readonly method: OperationMethod;
  /** The path template under the base address, for example `/services/v2/comment/{commentId}.json`. */
  readonly path: string;
  readonly summary: string;
  readonly since: string | undefined;
  readonly provenance: Provenance;
  /** True where a credential is needed even when anonymous callers are allowed (rules, 2). */
  readonly needsCredential: boolean;
  /** True where a service account may stand in for the caller (rules, 2). */
  readonly identityIndependent: boolean;
  readonly requires: Requirement | undefined;
  /** The part of the legacy service without which the operation does not exist (3); undefined for the others. */
  readonly needsFeature: Feature | undefined;
  /** True where the thing that is named can be private to others, so that a denial says nothing of the caller's permissions. */
  readonly mayBePrivate: boolean;
  readonly parameters: readonly Parameter[];
  /** `report` where unknown parameters are counted and never refused (operation 7). */
  readonly unknownParameters: 'refuse' | 'report';
  readonly itemsAt: ItemsAt;
  readonly paging: Paging | undefined;
  readonly cacheability: Cacheability | undefined;
  /** Tags that a success of this operation purges; `{name}` stands for a path parameter. */
  readonly purges: readonly string[];
  /** True where answers can carry `visibility` and `recipients` (4, 5, 16, comment writes). */
  readonly carriesPrivateFields: boolean;
  /** Names of the semantic rules that answers must keep (rules, 7). */
  readonly semanticRules: readonly string[];
  /** Names of the semantic rules that request bodies must keep (`gdpr-csv`, `comment-visibility`). */
  readonly requestRules: readonly string[];
  readonly requestBody: RequestBody | undefined;
  /** Documented statuses of answers, ascending. */
  readonly statuses: readonly number[];
  readonly documentedErrors: readonly DocumentedError[];
  /** Names of the fields that a success can have at its top; empty for bare arrays. */
  readonly documentedFields: readonly string[];
}
