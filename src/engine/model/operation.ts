import type { ServerErrorForm, ServerErrors } from './server-errors.ts';

/** The methods of documented operations. Every path that supports GET also supports HEAD. */
export type OperationMethod = 'GET' | 'POST' | 'PUT';

/** How a fact in the contract is known: stated by the specification, shown in its examples, inferred, or not shown. */
export type Provenance = 'stated' | 'observed' | 'inferred' | 'not shown';

/** The type to which a parameter's text is converted before the generated schema validates the parameter. */
type ParameterType = 'integer' | 'boolean' | 'text';

/** One parameter of an operation. */
export interface Parameter {
  readonly name: string;
  readonly location: 'path' | 'query';
  readonly type: ParameterType;
  /** True for 64-bit ids. Other integers have at most nine digits. */
  readonly wide: boolean;
  /** True if the parameter may occur only once. A request with more than one occurrence is refused. */
  readonly single: boolean;
  /** `report` means that the parameter is counted as undocumented but never causes a refusal. */
  readonly acceptance: 'known' | 'report';
  readonly provenance: Provenance;
}

/** Fields that only some callers may see. */
export interface PrivateFields {
  readonly names: readonly string[];
  /** What a caller needs to see them. */
  readonly requires: Requirement;
}

/**
 * The location of the items in a response: `body` if the whole body is one item, `elements` if the items are the
 * elements of the body, or the name of the member of the body whose elements they are.
 */
export type ItemsAt = string;

/** The paging properties of an operation with the parameters `page` and `pageSize`. */
export interface Paging {
  /** The page that is returned if `page` is absent: 0 for lists of followers and 1 for all other lists. */
  readonly firstPage: 0 | 1;
  /**
   * The page size that the upstream used when a request did not specify one. The value was observed, so it is only a
   * hint and never part of a cache key.
   */
  readonly observedPageSize: number | undefined;
  /** False if responses contain no `pageCount` (`listActions`). */
  readonly hasPageCount: boolean;
}

/** How the changes of a list's items can be found by reading the list again and again (`x-changes`). */
export interface ListChanges {
  /** The reference to the schema of the items. */
  readonly item: string;
  /** The kind of the items in the names of events, such as `book` for `book.created`. */
  readonly kind: string;
  /** The member that identifies an item. */
  readonly id: string;
  /**
   * The member by whose value, a number, the list is sorted in descending order, so that new and changed items come
   * first. Undefined if the order of the list says nothing.
   */
  readonly by: string | undefined;
  /** The member with the time at which an item was created, in epoch milliseconds. */
  readonly created: string | undefined;
  /** The members whose values make a version of an item. Undefined if each member does. */
  readonly version: readonly string[] | undefined;
  /** The members with counts whose growth has a name of its own, such as `reviewed` for `book.reviewed`. */
  readonly grows: Readonly<Record<string, string>>;
  /** The member with the `id` and the `type` of what an item is about. Undefined if it is about itself. */
  readonly target: string | undefined;
  /** The member with a short text for people. */
  readonly title: string | undefined;
  /** The member that must be false in an item that others may learn of. */
  readonly hide: string | undefined;
  /** The members that are never passed on, because not everyone who may read the list may read them. */
  readonly omit: readonly string[];
  /** The query that selects the order, such as `sort=newest`. */
  readonly query: string | undefined;
}

/** The request body of an operation. */
interface RequestBody {
  readonly required: boolean;
}

/** An error that the specification documents for an operation. */
export interface DocumentedError {
  readonly status: number;
  readonly text: string;
  /** The parameters and violated keywords to which the text applies. Undefined if it applies to all of them. */
  readonly causes?: readonly string[];
}

/** The name that represents a missing permission in the causes of a documented error. */
export const PERMISSION_DENIED = 'permission-denied';

/** One operation in the contract, as plain data. Its validators are part of the compiled contract. */
export interface Operation {
  /** The operationId, for example `listBooks`. */
  readonly id: string;
  /** The operation's row in the specification's endpoint table. Undefined for inferred operations. */
  readonly row: number | undefined;
  readonly method: OperationMethod;
  /** The path template relative to the base address, for example `/books/{bookId}.json`. */
  readonly path: string;
  readonly summary: string;
  readonly since: string | undefined;
  readonly provenance: Provenance;
  /** True if the operation requires a credential even if anonymous callers are allowed (docs/rules.md §2). */
  readonly needsCredential: boolean;
  /** True if a service account may be used instead of the caller's credential (docs/rules.md §2). */
  readonly identityIndependent: boolean;
  readonly requires: Requirement | undefined;
  /** The optional part of the upstream that the operation needs, such as `issue-tracker`. */
  readonly needsFeature: string | undefined;
  /** True if the requested object may be private. A denial then says nothing about the caller's permissions. */
  readonly mayBePrivate: boolean;
  readonly parameters: readonly Parameter[];
  /** `report` means that unknown parameters are counted but never refused (`listActions`). */
  readonly unknownParameters: 'refuse' | 'report';
  readonly itemsAt: ItemsAt;
  readonly paging: Paging | undefined;
  /** How changes of the listed items can be found. Undefined if the contract does not say. */
  readonly changes: ListChanges | undefined;
  /** The rules for storing responses. Undefined if responses are never stored. */
  readonly cacheability:
    | {
        /** True if responses are stored by default. */
        readonly byDefault: boolean;
        /** The tags of every stored response. `{name}` is replaced with the path parameter of that name. */
        readonly tags: readonly string[];
      }
    | undefined;
  /** The tags that a successful request purges. `{name}` is replaced with the path parameter of that name. */
  readonly purges: readonly string[];
  /** The fields of responses that only some callers may see. Undefined if there are none. */
  readonly privateFields: PrivateFields | undefined;
  /** The names of the semantic rules for responses (docs/rules.md §7). */
  readonly semanticRules: readonly string[];
  /** The names of the rules about request bodies, in the order in which they run. */
  readonly requestRules: readonly string[];
  readonly requestBody: RequestBody | undefined;
  /** The documented response statuses in ascending order. */
  readonly statuses: readonly number[];
  readonly documentedErrors: readonly DocumentedError[];
  /** The forms of error responses. */
  readonly serverErrors: ServerErrors;
  /** The form that the operation documents for denials, or the first one. Undefined if the API has none. */
  readonly documentedForm: ServerErrorForm | undefined;
  /** The names of the top-level fields of a successful response. Empty if the response is an array. */
  readonly documentedFields: readonly string[];
}

/**
 * A requirement for callers: a single permission, group membership or flag; a combination of requirements (all or any
 * of them); or being the author of the requested node (`own`).
 */
export type Requirement =
  | { readonly permission: string }
  | { readonly group: string }
  | { readonly flag: string }
  | { readonly all: readonly Requirement[] }
  | { readonly any: readonly Requirement[] }
  | { readonly own: Requirement };

/** A permission, group or flag that a caller can have. */
export interface Term {
  readonly kind: 'permission' | 'group' | 'flag';
  readonly name: string;
}

/** Returns all terms in a requirement. */
export function termsOf(requirement: Requirement): Term[] {
  if ('permission' in requirement) return [{ kind: 'permission', name: requirement.permission }];
  if ('group' in requirement) return [{ kind: 'group', name: requirement.group }];
  if ('flag' in requirement) return [{ kind: 'flag', name: requirement.flag }];
  if ('own' in requirement) return termsOf(requirement.own);
  return ('all' in requirement ? requirement.all : requirement.any).flatMap(termsOf);
}

/** The decision on whether a caller may use an operation, according to the permission rules. */
export type Decision =
  | { readonly verdict: 'allowed'; readonly because: string }
  | {
      readonly verdict: 'denied';
      /** The permissions, groups or flags that would have been sufficient, most specific first. */
      readonly missing: readonly string[];
      /**
       * The missing names for each alternative, joined with `and`. Undefined if the requirement has no alternatives.
       */
      readonly alternatives?: readonly string[];
    }
  /**
   * The decision is left to the upstream, because the caller is not in the roles file or because the node's author is
   * unknown.
   */
  | { readonly verdict: 'delegated'; readonly because: 'unmapped' | 'ownership' };

/** Formats a requirement as one readable line. */
export function describeRequirement(requirement: Requirement | undefined): string {
  if (requirement === undefined) return 'none beyond authentication';
  if ('permission' in requirement) return `"${requirement.permission}"`;
  if ('group' in requirement) return `group "${requirement.group}"`;
  if ('flag' in requirement) return `flag ${requirement.flag}`;
  if ('own' in requirement) return `own node and ${describeRequirement(requirement.own)}`;
  const [parts, word] = 'all' in requirement ? [requirement.all, ' and '] : [requirement.any, ' or '];
  return `(${parts.map(describeRequirement).join(word)})`;
}
