import type { Operation } from '../model/operation.ts';
import type { Violation } from '../model/violation.ts';
import { parseExact } from '../../lib/exact-json.ts';
import { survives } from './compile/decode-parameters.ts';
import type { SemanticRule } from './rules.ts';
import { itemPlace, type ParameterValues } from './values.ts';
import { responseViolation } from './violations.ts';

/** The known semantic rules by name. */
export type SemanticRules = ReadonlyMap<string, SemanticRule>;

/** A subset of an operation's rules. Bit `1 << index` is set if the subset contains the rule with that index. */
type RuleSet = number;

/**
 * Returns the operation's rules that apply to a request with the given parameters. A rule does not apply if a
 * projection may have removed a field that the rule reads.
 */
export function applicableRules(
  known: SemanticRules,
  { semanticRules }: Operation,
  parameters: ParameterValues,
): RuleSet {
  let rules = 0;
  semanticRules.forEach((name, index) => {
    const rule = known.get(name);
    if (rule === undefined || rule.appliesTo?.(parameters) === false) return;
    if (rule.reads.every((field) => survives(parameters.projection, field))) rules |= 1 << index;
  });
  return rules;
}

/** Returns JSON pointers to the response values that the given rules read. `*` stands for all elements of an array. */
export function excerptOfRules(
  known: SemanticRules,
  { semanticRules, itemsAt }: Operation,
  rules: RuleSet,
): readonly string[] {
  const item = itemPlace(itemsAt);
  return semanticRules.flatMap((name, index) =>
    (rules & (1 << index)) === 0 ? [] : (known.get(name)?.excerpt(item) ?? []),
  );
}

/** The maximum number of findings per rule. Without a limit, a rule could report every item in a long list. */
const MAX_FINDINGS = 500;

/** A response body for the semantic rules. */
interface ReadBody {
  /** The parsed body, in which integers above 2^53 are rounded. */
  readonly json: unknown;
  /** The text of the body as UTF-8. Undefined if it is not known. */
  readonly bytes?: Buffer | undefined;
}

/**
 * Checks a response against its operation's semantic rules. A finding is omitted if it merely follows from a schema
 * violation, either at the same location or in a field that the rule reads.
 */
export function checkSemantics(
  known: SemanticRules,
  operation: Operation,
  parameters: ParameterValues,
  { json, bytes }: ReadBody,
  broken: readonly Violation[],
): Violation[] {
  const rules = applicableRules(known, operation, parameters);
  return operation.semanticRules.flatMap((name, index) => {
    const rule = (rules & (1 << index)) === 0 ? undefined : known.get(name);
    if (rule === undefined) return [];
    // A requested id that a number can represent is never equal to a rounded one.
    const isRounded = bytes !== undefined && !Number.isSafeInteger(Number(rule.requestedId?.(parameters) ?? 0));
    return rule
      .check(isRounded ? parseExact(bytes) : json, operation, parameters)
      .slice(0, MAX_FINDINGS)
      .filter(({ at }) => !followsFrom(broken, rule, at))
      .map(({ at, message }) =>
        responseViolation(rule.isAdvisory === true ? 'advisory' : 'semantic', 'body', at, name, message),
      );
  });
}

function followsFrom(broken: readonly Violation[], { reads }: SemanticRule, at: string): boolean {
  if (broken.length === 0) return false;
  const item = at.slice(0, at.lastIndexOf('/'));
  const read = reads.map((field) => `${item}/${field}`);
  return broken.some((violation) => isWithin(at, violation.at) || read.some((place) => isWithin(violation.at, place)));
}

const isWithin = (at: string, above: string) => at === above || at.startsWith(`${above}/`);
