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
    if (rule !== undefined && applies(rule, parameters)) rules |= 1 << index;
  });
  return rules;
}

function applies({ appliesTo, reads }: SemanticRule, parameters: ParameterValues): boolean {
  if (appliesTo?.(parameters) === false) return false;
  const { projection } = parameters;
  // Most requests have no projection.
  return projection === undefined || reads.every((field) => survives(projection, field));
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
  const found: Violation[] = [];
  for (const name of operation.semanticRules) {
    const rule = known.get(name);
    if (rule === undefined || !applies(rule, parameters)) continue;
    // A requested id that a number can represent is never equal to a rounded one.
    const isRounded = bytes !== undefined && !Number.isSafeInteger(Number(rule.requestedId?.(parameters) ?? 0));
    const findings = rule.check(isRounded ? parseExact(bytes) : json, operation, parameters);
    if (findings.length === 0) continue;
    const category = rule.isAdvisory === true ? 'advisory' : 'semantic';
    const reported = findings.slice(0, MAX_FINDINGS).filter(({ at }) => !followsFrom(broken, rule, at));
    found.push(...reported.map(({ at, message }) => responseViolation(category, 'body', at, name, message)));
  }
  return found;
}

function followsFrom(broken: readonly Violation[], { reads }: SemanticRule, at: string): boolean {
  if (broken.length === 0) return false;
  const item = at.slice(0, at.lastIndexOf('/'));
  const read = reads.map((field) => `${item}/${field}`);
  return broken.some((violation) => isWithin(at, violation.at) || read.some((place) => isWithin(violation.at, place)));
}

const isWithin = (at: string, above: string) => at === above || at.startsWith(`${above}/`);
