import type { Operation } from '../../model/operation.ts';
import type { ParameterValues } from '../parameter-values.ts';

/** A finding of a semantic rule: a JSON pointer, and one sentence that contains no value of the response. */
export interface Finding {
  readonly at: string;
  readonly message: string;
}

/**
 * A rule about the meaning of a response that JSON Schema cannot express. It must accept responses that violate their
 * schema.
 */
export interface SemanticRule {
  readonly name: string;
  /** The fields of items that the rule reads. The rule is skipped if a projection may have removed one of them. */
  readonly reads: readonly string[];
  readonly judge: (json: unknown, operation: Operation, parameters: ParameterValues) => readonly Finding[];
}
