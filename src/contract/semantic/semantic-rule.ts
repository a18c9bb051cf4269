import type { Operation } from '../../model/operation.ts';
import type { ParameterValues } from '../parameter-values.ts';

/** What a semantic rule found: where, as a JSON pointer, and in one sentence without any value. */
export interface Finding {
  readonly at: string;
  readonly message: string;
}

/** A rule about the meaning of an answer that no JSON Schema says; it must bear answers that broke their schema. */
export interface SemanticRule {
  readonly name: string;
  /** Fields of items that it reads; it is left out when a projection may have removed one of them. */
  readonly reads: readonly string[];
  readonly judge: (json: unknown, operation: Operation, parameters: ParameterValues) => readonly Finding[];
}
