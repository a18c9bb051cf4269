import type { Operation } from '../model/operation.ts';
import type { Violation } from '../model/violation.ts';
import type { OperationValidators } from './operation-validators.ts';
import type { ParameterValues } from './parameter-values.ts';
import { fieldsBeyond } from './projection-limit.ts';
import { survives } from './projection.ts';
import { responseViolation } from './response-violation.ts';
import type { ResponseVariant } from './schema-names.ts';
import { SEMANTIC_RULES } from './semantic/semantic-rules.ts';

/** What the upstream answered, as it came. */
export interface JudgedAnswer {
  readonly status: number;
  /** The value of `Content-Type`; undefined when there is none. */
  readonly mediaType: string | undefined;
  /** The parsed body; undefined when it is empty or no JSON. */
  readonly json: unknown;
}

/** What the contract says of an answer; `skipped` when it cannot say, and then `reason` tells why. */
export interface Judgement {
  readonly verdict: 'valid' | 'violations' | 'skipped';
  readonly reason?: 'wrap' | 'v1';
  readonly violations: readonly Violation[];
}

/** Judges an answer by status, content type, schema, projection and semantic rules (rules, 7). */
export function judgeResponse(
  operation: Operation,
  validators: OperationValidators,
  parameters: ParameterValues,
  answer: JudgedAnswer,
  maxCollected: number,
): Judgement {
  const success = answer.status >= 200 && answer.status < 300;
  const variant = variantOf(parameters);
  const violations = validators.response({ ...answer, variant })(answer.json);
  if (success && answer.json !== undefined && variant === 'projected') {
    const asked = parameters.projection?.includeOnly ?? [];
    for (const at of fieldsBeyond(asked, operation.itemsAt, answer.json, maxCollected))
      violations.push(responseViolation('undocumented', 'body', at, 'includeOnly', `${at} was not asked for`));
  }
  if (success && answer.json !== undefined) violations.push(...judgeMeaning(operation, parameters, answer.json));
  const unreadable = violations.some((found) => found.category === 'protocol' || found.location === 'status');
  const collected = violations.slice(0, maxCollected);
  if (collected.length === 0) return { verdict: 'valid', violations: collected };
  if (!unreadable && (parameters.wrap || parameters.v1))
    return { verdict: 'skipped', reason: parameters.wrap ? 'wrap' : 'v1', violations: [] };
  return { verdict: 'violations', violations: collected };
}

function variantOf(parameters: ParameterValues): ResponseVariant {
  if (parameters.details) return 'open';
  return parameters.projection ? 'projected' : 'full';
}

function judgeMeaning(operation: Operation, parameters: ParameterValues, json: unknown): Violation[] {
  return operation.semanticRules.flatMap((name) => {
    const rule = SEMANTIC_RULES.get(name);
    if (!rule || !rule.reads.every((field) => survives(parameters.projection, field))) return [];
    return rule
      .judge(json, operation, parameters)
      .map(({ at, message }) => responseViolation('semantic', 'body', at, name, message));
  });
}
