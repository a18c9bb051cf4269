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

/** The most findings of one rule that are looked at: a list of any length can break it in every item. */
const MAX_FINDINGS = 500;

/**
 * Judges the meaning of an answer by the rules of its operation. A rule is silent about a place where the schema is broken
 * already, in what the rule would speak of or in what it reads: that is the cause, and the rest follows from it.
 */
export function judgeMeaning(
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
