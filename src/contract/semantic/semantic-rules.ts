import type { Operation } from '../../model/operation.ts';
import type { Violation } from '../../model/violation.ts';
import { type ParameterValues, survives } from '../parameter-values.ts';
import { responseViolation } from '../violations.ts';
import {
  actionPageSize,
  canceledFields,
  executionsWhenFinished,
  newestFirst,
  unfavoriteResult,
  unwikifyResult,
} from './action-rules.ts';
import { listCount, onlyKbentry, recipientsVisibility, spaceFilter } from './list-rules.ts';
import type { SemanticRule } from './semantic-rule.ts';

const RULES: readonly SemanticRule[] = [
  listCount,
  recipientsVisibility,
  executionsWhenFinished,
  canceledFields,
  spaceFilter,
  unfavoriteResult,
  unwikifyResult,
  actionPageSize,
  newestFirst,
  onlyKbentry,
];

/** The semantic rules that the contract can name in `x-semantic-rules` (rules, 7). */
export const SEMANTIC_RULES: ReadonlyMap<string, SemanticRule> = new Map(RULES.map((rule) => [rule.name, rule]));

/** The maximum number of findings of one rule, because every item of a long list can violate it. */
const MAX_FINDINGS = 500;

/**
 * Checks a response by the semantic rules of its operation. A finding is left out if the schema is already violated at
 * its place or in a field that the rule reads, because the finding follows from that violation.
 */
export function checkSemantics(
  operation: Operation,
  parameters: ParameterValues,
  json: unknown,
  broken: readonly Violation[],
): Violation[] {
  return operation.semanticRules.flatMap((name) => {
    const rule = SEMANTIC_RULES.get(name);
    if (!rule || !rule.reads.every((field) => survives(parameters.projection, field))) return [];
    return rule
      .judge(json, operation, parameters)
      .slice(0, MAX_FINDINGS)
      .filter(({ at }) => !followsFrom(broken, rule, at))
      .map(({ at, message }) => responseViolation('semantic', 'body', at, name, message));
  });
}

function followsFrom(broken: readonly Violation[], { reads }: SemanticRule, at: string): boolean {
  if (broken.length === 0) return false;
  const item = at.slice(0, at.lastIndexOf('/'));
  const read = reads.map((field) => `${item}/${field}`);
  return broken.some((violation) => isWithin(at, violation.at) || read.some((place) => isWithin(violation.at, place)));
}

const isWithin = (at: string, above: string) => at === above || at.startsWith(`${above}/`);
