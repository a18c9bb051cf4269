import { anyIndex } from '../lib/json-pointer.ts';
import type { Operation } from '../model/operation.ts';
import type { Violation } from '../model/violation.ts';
import type { DescribeFound } from './describe-found.ts';
import { isErrorInside } from './is-error-inside.ts';
import type { OperationValidators } from './operation-validators.ts';
import type { ParameterValues } from './parameter-values.ts';
import { oncePerKind } from './once-per-kind.ts';
import { fieldsBeyond } from './projection-limit.ts';
import { responseViolation } from './response-violation.ts';
import type { ResponseVariant } from './schema-names.ts';
import { judgeMeaning } from './semantic/judge-meaning.ts';
import { isToldOnly } from './unknown-field.ts';

/** What the upstream answered, as it came. */
export interface JudgedAnswer {
  readonly status: number;
  /** The value of `Content-Type`; undefined when there is none. */
  readonly mediaType: string | undefined;
  /** True for an answer that has no body at all; not known of when undefined. */
  readonly isEmpty?: boolean;
  /** The parsed body; undefined when it is empty or no JSON. */
  readonly json: unknown;
}

/** What the contract says of an answer; `skipped` when it cannot say, and then `reason` tells why. */
export interface Judgement {
  readonly verdict: 'valid' | 'violations' | 'skipped';
  readonly reason?: 'wrap' | 'v1';
  /** One of each kind, at the first place where it is. */
  readonly violations: readonly Violation[];
  /** What is counted and shown and breaks nothing: fields that the contract does not know. */
  readonly reported: readonly Violation[];
}

/** How much is told of an answer. */
export interface JudgeOptions {
  readonly maxCollected: number;
  readonly describe: DescribeFound;
}

const NONE: readonly Violation[] = [];

/** Judges an answer by status, content type, schema, projection and semantic rules (rules, 7). */
export function judgeResponse(
  operation: Operation,
  validators: OperationValidators,
  parameters: ParameterValues,
  answer: JudgedAnswer,
  { maxCollected, describe }: JudgeOptions,
): Judgement {
  const { json } = answer;
  const success = answer.status >= 200 && answer.status < 300;
  const variant = variantOf(parameters);
  const found = validators.response({ ...answer, variant })(json);
  const breaking = found.filter((violation) => !isToldOnly(violation));
  if (success && breaking.length > 0 && isErrorInside(operation, json))
    return { verdict: 'violations', violations: [ERROR_IN_SUCCESS], reported: NONE };
  const reported = found.filter(isToldOnly).slice(0, maxCollected);
  const told = { breaking, reported, maxCollected };
  const more = success && json !== undefined ? beyondSchema(operation, parameters, json, told) : NONE;
  const described = oncePerKind(more).map((violation) =>
    withFound(violation, describe(json, violation.at, violation.keyword)),
  );
  const violations = oncePerKind([...breaking, ...described]).slice(0, maxCollected);
  if (violations.length === 0) return { verdict: 'valid', violations, reported };
  const unreadable = violations.some(({ category, location }) => category === 'protocol' || location === 'status');
  if (!unreadable && (parameters.wrap || parameters.v1))
    return { verdict: 'skipped', reason: parameters.wrap ? 'wrap' : 'v1', violations: NONE, reported: NONE };
  return { verdict: 'violations', violations, reported: reported.slice(0, maxCollected - violations.length) };
}

function variantOf(parameters: ParameterValues): ResponseVariant {
  if (parameters.details) return 'open';
  return parameters.projection ? 'projected' : 'full';
}

const ERROR_IN_SUCCESS = responseViolation(
  'protocol',
  'body',
  '',
  'error-in-success',
  'the body is an error, the status says success',
);

/** What the schemas told already, and how much may be told. */
interface Told {
  readonly breaking: readonly Violation[];
  readonly reported: readonly Violation[];
  readonly maxCollected: number;
}

/** What no schema says of a success: the fields that were not asked for, and its meaning. */
function beyondSchema(
  operation: Operation,
  parameters: ParameterValues,
  json: unknown,
  { breaking, reported, maxCollected }: Told,
): readonly Violation[] {
  const asked = parameters.details ? undefined : parameters.projection?.includeOnly;
  const meaning = judgeMeaning(operation, parameters, json, breaking);
  if (asked === undefined) return meaning;
  const unknown = new Set(reported.map(({ at }) => anyIndex(at)));
  const beyond = fieldsBeyond(asked, operation.itemsAt, json, maxCollected + reported.length)
    // What the contract does not know at all was told as that.
    .filter((at) => !unknown.has(anyIndex(at)))
    .map((at) => responseViolation('undocumented', 'body', at, 'includeOnly', `${at} was not asked for`));
  return [...beyond, ...meaning];
}

const withFound = (violation: Violation, found: string | undefined): Violation =>
  found === undefined ? violation : { ...violation, found };
