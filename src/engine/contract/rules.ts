import type { ErrorCode, ErrorKind } from '../errors/catalogue.ts';
import type { ErrorDetail } from '../errors/gateway-error.ts';
import type { Checks } from '../model/checks.ts';
import type { Operation } from '../model/operation.ts';
import type { ServerErrors } from '../model/server-errors.ts';
import type { Violation } from '../model/violation.ts';
import type { ParameterValues } from './values.ts';

/** What a contract needs to know of its API. The API's profile provides it. */
export interface ContractRules {
  /** The rules for responses, which `x-semantic-rules` names. */
  readonly semanticRules: readonly SemanticRule[];
  /** The rules for request bodies, which `x-request-rules` names. */
  readonly requestRules: readonly RequestRule[];
  /** How the API's servers report errors. If this is not known, Portico's errors are normalized in every mode. */
  readonly serverErrors: ServerErrors;
}

/** A violation found by a semantic rule: a JSON pointer and a sentence that contains no values from the response. */
export interface Finding {
  readonly at: string;
  readonly message: string;
}

/**
 * A rule about the meaning of a response, which JSON Schema cannot express. A rule's functions must not throw, even
 * when the response violates its schema.
 */
export interface SemanticRule {
  readonly name: string;
  /** What the rule requires, for readers of the console's API docs and of docs/contract.md. */
  readonly description: string;
  /** True if the rule only states what is expected. A response that does not meet it is still valid. */
  readonly isAdvisory?: true;
  /** The item fields that the rule reads. If a projection may have removed one of them, the rule is skipped. */
  readonly reads: readonly string[];
  /**
   * Returns the requested id, as written in the request, that the rule compares with ids in the response. If a number
   * cannot represent it, the ids in the body that `check` receives are not rounded but strings of digits.
   */
  readonly requestedId?: (parameters: ParameterValues) => string | undefined;
  /** Returns whether the rule applies to a request with the given parameters. By default, it always applies. */
  readonly appliesTo?: (parameters: ParameterValues) => boolean;
  /**
   * Returns JSON pointers to all values that `check` reads. If `check` reads only the type or the length of a value, no
   * pointers to the values inside it are needed. `item` is the pointer to the operation's items.
   */
  readonly excerpt: (item: string) => readonly string[];
  readonly check: (json: unknown, operation: Operation, parameters: ParameterValues) => readonly Finding[];
}

/** A rule about request bodies that JSON Schema cannot express. */
export interface RequestRule {
  readonly name: string;
  /** What the rule requires, for readers of the console's API docs and of docs/contract.md. */
  readonly description: string;
  /** The configuration key whose options the rule reads. */
  readonly optionsKey?: string;
  /** True if the rule recognizes repeated bodies. It then runs even if the `requests` check is off. */
  readonly identifies?: true;
  /** Returns the function that checks the bodies of an operation. Called once per operation, before the first request. */
  plan(options: unknown, checks: Checks): CheckRequestBody;
}

/** Checks a body that is valid according to its schema. */
export type CheckRequestBody = (body: unknown, request: CheckedRequest) => RuleFindings | Promise<RuleFindings>;

/** What a rule about request bodies can ask about the request. */
export interface CheckedRequest {
  readonly parameters: () => ParameterValues;
  /** Returns whether the caller has a permission. True if only the upstream knows the caller's permissions. */
  readonly mayUse: (permission: string) => boolean;
  /** Fetches a target with the caller's credential. Returns undefined if there is no successful JSON response. */
  readonly lookUp: (target: string) => Promise<unknown>;
}

/** The result of a rule about request bodies: its violations, and the code and details to use for a refusal. */
export interface RuleFindings {
  /** The violations. They never include advisories, which only schemas can cause. */
  readonly violations: readonly Violation[];
  /** A text that is the same for all bodies with the same content, whatever their form. */
  readonly identity?: string;
  /** The body to forward instead of the client's, outside `observe` mode. */
  readonly forwarded?: Buffer;
  readonly code?: ErrorCode | ErrorKind;
  readonly details?: readonly ErrorDetail[];
}
