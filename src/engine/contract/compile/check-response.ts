import { anyIndex } from '../../../lib/json-pointer.ts';
import type { ItemsAt, Operation } from '../../model/operation.ts';
import { isServerError } from '../../model/server-errors.ts';
import { type ScannedDifferences, isAdvisory, type Violation } from '../../model/violation.ts';
import { plainName } from '../../privacy/shown-name.ts';
import type { ResponseVariant } from '../contract-files.ts';
import type { DescribeFound } from '../explain/schema-violation.ts';
import { itemPlace, itemsOf, type ParameterValues, toObject, WHOLE_ITEM } from '../values.ts';
import { checkSemantics, type SemanticRules } from '../check-semantics.ts';
import { oncePerKind, responseViolation } from '../violations.ts';
import type { OperationValidators } from './compile-validators.ts';

/** The parts of an upstream response that the response check reads. */
export interface ResponseToCheck {
  readonly status: number;
  /** The value of the `Content-Type` header. Undefined if the response has none. */
  readonly mediaType: string | undefined;
  /** True if the response has no body. Undefined if this is unknown. */
  readonly isEmpty?: boolean;
  /** The parsed body. Undefined if the body is empty or is not JSON. */
  readonly json: unknown;
  /** The bytes of the body, in which ids above 2^53 are not rounded. Undefined if only the parsed body is known. */
  readonly bytes?: Buffer | undefined;
  /**
   * Set if a scan of the bytes has proved that the body satisfies its schema. In that case, `json` contains only the
   * values that semantic rules read.
   */
  readonly scanned?: ScannedDifferences;
}

/**
 * The result of checking a response. If `verdict` is `skipped`, `reason` is the name of the request parameter that
 * prevents the check.
 */
export interface ResponseFindings {
  readonly verdict: 'valid' | 'violations' | 'skipped';
  readonly reason?: 'wrap' | 'v1';
  /** The violations, limited to the first one of each kind. */
  readonly violations: readonly Violation[];
  /** The advisories, which are counted and shown but do not make the response invalid. */
  readonly reported: readonly Violation[];
}

/** How many violations to collect in a response, and how to describe the values that caused them. */
interface CheckResponseOptions {
  readonly semanticRules: SemanticRules;
  readonly maxCollected: number;
  readonly describe: DescribeFound;
}

/** The findings of scanned responses that differ from the contract only in advisories. */
const onlyAdvisory = new WeakMap<readonly Violation[], ResponseFindings>();

const NONE: readonly Violation[] = [];
const VALID: ResponseFindings = { verdict: 'valid', violations: NONE, reported: NONE };

/** Checks a response's status, content type, schema, projection and semantic rules (docs/rules.md §7). */
export function checkResponse(
  operation: Operation,
  validators: OperationValidators,
  parameters: ParameterValues,
  response: ResponseToCheck,
  { semanticRules, maxCollected, describe }: CheckResponseOptions,
): ResponseFindings {
  const { json, scanned } = response;
  const success = response.status >= 200 && response.status < 300;
  const variant = variantOf(parameters);
  const check = validators.response({ ...response, variant });
  const found = check(json, scanned);
  // A scan returns the same array for all responses with the same differences.
  const known = scanned === undefined ? undefined : onlyAdvisory.get(found);
  const breaking = known === undefined ? found.filter((violation) => !isAdvisory(violation)) : NONE;
  if (success && breaking.length > 0 && isErrorInside(operation, json))
    return { verdict: 'violations', violations: [ERROR_IN_SUCCESS], reported: NONE };
  const beyond = success && json !== undefined ? beyondRequest(operation, parameters, json, maxCollected) : NO_FIELDS;
  const meaning =
    success && json !== undefined ? checkSemantics(semanticRules, operation, parameters, response, breaking) : NONE;
  // Most responses are valid, so this case is handled first.
  if (found.length === 0 && beyond.length === 0 && meaning.length === 0) return VALID;
  if (known !== undefined && beyond.length === 0 && meaning.length === 0) return known;
  const more = oncePerKind([...projectionViolation(operation.itemsAt, beyond), ...meaning]).map((violation) =>
    withFound(violation, describe(json, violation.at, violation.keyword)),
  );
  const judged = [...breaking, ...more];
  const all = success && validators.isInferred(response.status) ? judged.map(asInferred) : judged;
  const violations = oncePerKind(all.filter((violation) => !isAdvisory(violation))).slice(0, maxCollected);
  const reported = oncePerKind([
    ...all.filter(isAdvisory),
    ...found.filter((violation) => isAdvisory(violation) && !isBeyond(beyond, violation)),
  ]).slice(0, maxCollected);
  if (violations.length === 0) {
    const findings: ResponseFindings = { verdict: 'valid', violations, reported };
    if (scanned !== undefined && judged.length === 0) onlyAdvisory.set(found, findings);
    return findings;
  }
  const isUnreadable = violations.some(({ category, location }) => category === 'protocol' || location === 'status');
  if (!isUnreadable && (parameters.wrap || parameters.v1))
    return { verdict: 'skipped', reason: parameters.wrap ? 'wrap' : 'v1', violations: NONE, reported: NONE };
  return { verdict: 'violations', violations, reported: reported.slice(0, maxCollected - violations.length) };
}

/** Returns the response variant expected for a request with these parameters. */
export function variantOf(parameters: ParameterValues): ResponseVariant {
  if (parameters.details) return 'open';
  return parameters.projection ? 'projected' : 'full';
}

const ERROR_IN_SUCCESS = responseViolation(
  'protocol',
  'body',
  '',
  'error-in-success',
  'the body is an error, but the status indicates success',
);

/**
 * Returns the violation in a success response that is known only by inference. Such a response is not refused for its
 * status or its content (docs/adr/0011-what-was-not-shown.md), unless its body cannot be read.
 */
const asInferred = (violation: Violation): Violation =>
  violation.category === 'protocol' && violation.location !== 'status'
    ? violation
    : { ...violation, category: 'advisory' };

const NO_FIELDS: readonly string[] = [];

/**
 * Returns pointers to the fields in a success response that the request did not ask for. `include` may add fields to
 * those in `includeOnly`.
 */
function beyondRequest(
  { itemsAt }: Operation,
  { details, projection }: ParameterValues,
  json: unknown,
  max: number,
): readonly string[] {
  if (details || projection === undefined || projection.includeOnly.length === 0) return NO_FIELDS;
  return fieldsBeyond([...projection.includeOnly, ...projection.include], itemsAt, json, max);
}

/** Returns whether a violation concerns a field that was not requested, which is already reported as such. */
function isBeyond(beyond: readonly string[], { at }: Violation): boolean {
  const place = anyIndex(at);
  return beyond.map(anyIndex).some((field) => place === field || place.startsWith(`${field}/`));
}

/** The maximum number of fields named in the message about an ignored projection. */
const MAX_NAMED = 3;

/**
 * Returns a single violation for all fields that were not requested, because they all have the same cause: the server
 * ignores the projection. If there is only one such field, the violation points to it; otherwise, it points to the
 * first item with such fields.
 */
function projectionViolation(itemsAt: ItemsAt, beyond: readonly string[]): Violation[] {
  const [first, second] = beyond;
  if (first === undefined) return [];
  if (second === undefined) return [notRequested(first, `${first} was not requested`)];
  const item = itemIn(first, itemsAt);
  const names = beyond.slice(0, MAX_NAMED).map((at) => at.slice(itemIn(at, itemsAt).length + 1));
  const message = `${item || 'the body'} has fields that were not requested, such as ${names.join(', ')}`;
  return [notRequested(item, message)];
}

const notRequested = (at: string, message: string) =>
  responseViolation('not-allowed', 'body', at, 'includeOnly', message);

/** Returns the pointer to the item that contains a field. */
function itemIn(at: string, itemsAt: ItemsAt): string {
  const depth = itemPlace(itemsAt).split('/').length;
  return at.split('/', depth).join('/');
}

const withFound = (violation: Violation, found: string | undefined): Violation =>
  found === undefined ? violation : { ...violation, found };

/**
 * The fields that `includeOnly` permits. Each entry permits either a whole field or only some of the fields inside it.
 */
type Limit = ReadonlyMap<string, Limit | 'whole'>;

/**
 * The maximum number of segments in a path. Longer paths match nothing, because no checked body is nested this deeply.
 */
const MAX_SEGMENTS = 64;

/** The maximum number of members to compare with the requested fields. A typical list item has about 50 members. */
const MAX_EXAMINED = 20_000;

/**
 * Returns pointers to the item fields that the request did not name in `includeOnly`. If several items have the same
 * field, only its first occurrence is returned. At most `max` pointers are returned.
 */
export function fieldsBeyond(includeOnly: readonly string[], itemsAt: ItemsAt, json: unknown, max: number): string[] {
  if (includeOnly.length === 0 || includeOnly.includes(WHOLE_ITEM)) return [];
  const limit = toLimit(includeOnly);
  const search: Search = { found: new Map(), max, examined: 0 };
  for (const item of itemsOf(itemsAt, json)) {
    collect(search, item.value, limit, item.at);
    if (isOver(search)) break;
  }
  return [...search.found.values()];
}

type Building = Map<string, Building | 'whole'>;

/**
 * Converts paths to a tree of permitted fields. The conversion takes linear time and uses no recursion, because the
 * client determines the number and length of the paths.
 */
function toLimit(paths: readonly string[]): Limit {
  const limit: Building = new Map();
  for (const path of paths) {
    const segments = path.split('.', MAX_SEGMENTS);
    const last = segments.pop() ?? '';
    let here: Building | 'whole' | undefined = limit;
    for (const segment of segments) {
      const below: Building | 'whole' = here.get(segment) ?? new Map<string, Building | 'whole'>();
      here.set(segment, below);
      here = below === 'whole' ? undefined : below;
      if (here === undefined) break;
    }
    here?.set(last, 'whole');
  }
  return limit;
}

interface Search {
  /** The pointers found so far, keyed by the same pointers without array indices. */
  readonly found: Map<string, string>;
  readonly max: number;
  /** The number of members checked so far. */
  examined: number;
}

const isOver = ({ found, max, examined }: Search) => found.size >= max || examined >= MAX_EXAMINED;

function collect(search: Search, value: unknown, limit: Limit, at: string): void {
  const { found } = search;
  const members = toObject(value) ?? {};
  for (const name of Object.keys(members)) {
    if (isOver(search)) return;
    search.examined += 1;
    const inner = limit.get(name);
    if (inner === 'whole') continue;
    const pointer = `${at}/${plainName(name)}`;
    const child = members[name];
    if (inner === undefined) {
      const place = anyIndex(pointer);
      if (!found.has(place)) found.set(place, pointer);
    } else if (!Array.isArray(child)) collect(search, child, inner, pointer);
    else
      for (const [index, element] of child.entries()) {
        if (isOver(search)) return;
        collect(search, element, inner, `${pointer}/${index}`);
      }
  }
}

/**
 * Returns true if a body is an error body that contains no documented field (docs/rules.md §8). If a response with a
 * successful status has such a body, no other violation is reported.
 */
export function isErrorInside(
  { documentedFields, serverErrors }: Pick<Operation, 'documentedFields' | 'serverErrors'>,
  json: unknown,
): boolean {
  const body = toObject(json);
  if (body === undefined || !isServerError(serverErrors, json)) return false;
  return !documentedFields.some((name) => Object.hasOwn(body, name));
}
