import { valueAt } from '../../../lib/json-pointer.ts';
import type { CheckName } from '../../model/checks.ts';
import type { Violation, ViolationCategory, ViolationLocation } from '../../model/violation.ts';
import { describeValue, SIZE_ONLY } from '../../privacy/describe-value.ts';
import { type FieldShape, shapeAt } from './compile-field-shape.ts';
import type { SchemaError } from './explain-errors.ts';

/** The check to which a schema belongs, and the part of the message to which it applies. */
export interface SchemaPlace {
  readonly check: CheckName;
  readonly direction: 'request' | 'response';
  readonly location: ViolationLocation;
}

/**
 * The error keyword for an object that was apparently meant to have a different shape. Such an object has few or none
 * of the documented fields.
 */
const DIFFERENT_SHAPE = 'shape';

const CATEGORIES: Readonly<Record<string, ViolationCategory>> = {
  required: 'missing',
  type: 'type',
  anyOf: 'type',
  [DIFFERENT_SHAPE]: 'type',
  pattern: 'format',
  enum: 'enum',
  const: 'enum',
  oneOf: 'type',
  not: 'not-allowed',
  additionalProperties: 'not-allowed',
  exclusiveMinimum: 'bounds',
  exclusiveMaximum: 'bounds',
  multipleOf: 'bounds',
  minProperties: 'bounds',
  maxProperties: 'bounds',
  minimum: 'bounds',
  maximum: 'bounds',
  minLength: 'bounds',
  maxLength: 'bounds',
  minItems: 'bounds',
  maxItems: 'bounds',
};

/** Describes the value that violates a keyword. Returns undefined if there is no value. */
type DescribePlace = (at: string, keyword: string) => string | undefined;

/**
 * Converts errors to violations. No value from the checked message appears in a violation's text. `describe` describes
 * the value at a location.
 */
export function toViolations(errors: readonly SchemaError[], place: SchemaPlace, describe: DescribePlace): Violation[] {
  const choices = errors.filter((error) => error.keyword === 'anyOf').map(({ at }) => at);
  // The errors under an `anyOf` explain only why each of its alternatives failed.
  const relevant =
    choices.length === 0 ? errors : errors.filter((error) => error.keyword === 'anyOf' || !under(error, choices));
  return relevant.map((error) => {
    const found = describe(error.at, error.keyword);
    const violation = toViolation(error, place);
    return found === undefined ? violation : Object.assign(violation, { found });
  });
}

const under = ({ keyword, at }: SchemaError, choices: readonly string[]) => {
  const object = keyword === 'required' ? at.slice(0, at.lastIndexOf('/')) : at;
  return choices.some((path) => object === path || object.startsWith(`${path}/`));
};

function toViolation(error: SchemaError, place: SchemaPlace): Violation {
  const { keyword, at } = error;
  // A violation is of the same kind in a projected response as in a full one, so both use the same schema path.
  const schema = error.schema.replace('.projected.schema.json#', '.schema.json#');
  return {
    ...place,
    category: CATEGORIES[keyword] ?? 'format',
    at,
    keyword,
    schemaPath: `${schema}/${keyword}`,
    message: `${at === '' ? 'the body' : at} ${sentence(error)}`,
  };
}

function sentence({ keyword, limit }: SchemaError): string {
  switch (keyword) {
    case 'required':
      return 'is missing';
    case 'type':
      return `must be ${[limit].flat().join(' or ')}`;
    case 'enum':
      return `must be one of ${(limit as unknown[]).join(', ')}`;
    case 'const':
      return `must be ${String(limit)}`;
    case 'minimum':
    case 'maximum':
      return `must ${boundSentence(keyword, limit)}`;
    case 'exclusiveMinimum':
      return `must be greater than ${String(limit)}`;
    case 'exclusiveMaximum':
      return `must be less than ${String(limit)}`;
    case 'multipleOf':
      return `must be a multiple of ${String(limit)}`;
    case 'minProperties':
      return `must have at least ${String(limit)} fields`;
    case 'maxProperties':
      return `must have at most ${String(limit)} fields`;
    case 'minLength':
      return `must have at least ${String(limit)} characters`;
    case 'maxLength':
      return `must have at most ${String(limit)} characters`;
    case 'minItems':
      return `must have at least ${String(limit)} items`;
    case 'maxItems':
      return `must have at most ${String(limit)} items`;
    case 'pattern':
      return 'must have the documented form';
    case 'anyOf':
    case 'oneOf':
      return 'must have one of the documented shapes';
    case DIFFERENT_SHAPE:
      return limit === true ? 'has other fields instead of most documented ones' : 'has none of the documented fields';
    case 'additionalProperties':
      return 'is not allowed here';
    case 'not':
      return 'must be absent';
    default:
      return 'does not match the contract';
  }
}

/** Returns the end of a sentence about the bound of a number, such as `be at least 1`. */
export function boundSentence(keyword: 'minimum' | 'maximum', limit: unknown): string {
  // The bounds of 64-bit integers. A double cannot represent them exactly.
  if (Math.abs(Number(limit)) === 2 ** 63) return 'be within 64 bits';
  return `be at ${keyword === 'minimum' ? 'least' : 'most'} ${String(limit)}`;
}

/** Describes a value in a message without revealing personal data. Returns undefined if there is no value. */
export type DescribeFound = (message: unknown, at: string, keyword: string) => string | undefined;

const WORD_KEYWORDS: ReadonlySet<string> = new Set(['enum', 'const', 'x-expected-enum']);

/**
 * Creates a function that describes values. `personal` contains the names of personal fields. For the value of a
 * personal field and for all values inside it, only the size is described.
 */
export function createDescribeFound(personal: ReadonlySet<string>): DescribeFound {
  return (message, at, keyword) => {
    const value = valueAt(message, at);
    if (value === undefined) return undefined;
    if (at.split('/').some((name) => personal.has(name))) return describeValue(value, SIZE_ONLY);
    return describeValue(value, { form: true, word: WORD_KEYWORDS.has(keyword) });
  };
}

/** The errors in a value, with one entry per cause. */
interface Causes {
  readonly errors: readonly SchemaError[];
  /**
   * Returns true if the intended shape of the object at a JSON pointer is clear. Advisories about an object are helpful
   * only in this case.
   */
  readonly isClear: (within: string) => boolean;
}

/**
 * Reduces the errors to one per cause. If a value has the wrong type, that is its only error, even when several parts
 * of the contract describe it. If an object has a different shape, one error is reported instead of one for each field.
 */
export function oneCause(shape: FieldShape, value: unknown, errors: readonly SchemaError[]): Causes {
  const missing = Map.groupBy(
    errors.filter(({ keyword }) => keyword === 'required'),
    ({ at }) => parentOf(at),
  );
  const withErrors = new Set(errors.filter(({ keyword }) => OWN_FIELD.has(keyword)).map(({ at }) => parentOf(at)));
  const unrecognized = new Set([...withErrors].filter((at) => isUnrecognized(shape, value, at)));
  const unclear = [...unrecognized, ...errors.filter(({ keyword }) => keyword === 'anyOf').map(({ at }) => at)];
  const typed = new Map(
    errors
      .filter(({ keyword }) => keyword === 'type')
      .map((error) => [error.at, error] as const)
      .toReversed(),
  );
  const seen = new Set<string>();
  const reported = errors.flatMap((error): SchemaError[] => {
    if ((typed.get(error.at) ?? error) !== error || isRepeated(seen, error)) return [];
    const within = unrecognized.size === 0 ? undefined : ancestorIn(unrecognized, error.at);
    if (within === undefined) return [error];
    const [first = error, second] = missing.get(within) ?? [];
    // If an empty object lacks only one required field, that field is reported as missing.
    if (second === undefined && isEmpty(valueAt(value, within))) return [error];
    const other: SchemaError = {
      ...first,
      keyword: DIFFERENT_SHAPE,
      at: within,
      limit: hasKnown(shape, value, within),
    };
    return isRepeated(seen, other) ? [] : [other];
  });
  return { errors: reported, isClear: (within) => !unclear.some((at) => isWithin(within, at)) };
}

/** Returns true if the same error has already been reported for another part of the contract. */
function isRepeated(seen: Set<string>, { keyword, at }: SchemaError): boolean {
  const key = `${keyword} ${at}`;
  if (seen.has(key)) return true;
  seen.add(key);
  return false;
}

/**
 * The keywords whose errors show that an object lacks a field or is not the kind of object that the contract describes.
 */
const OWN_FIELD: ReadonlySet<string> = new Set(['required', 'const']);

/** If fewer fields are documented, the absence of most of them does not indicate a different shape. */
const ENOUGH_FIELDS = 8;

/**
 * Returns true if an object was apparently meant to have a different shape, for example a follow relation in a list of
 * users. Such an object has none of the documented fields, or it lacks most of them and has other fields instead.
 */
function isUnrecognized(shape: FieldShape, value: unknown, at: string): boolean {
  const names = shapeAt(shape, at)?.object?.names;
  const found = valueAt(value, at);
  if (names === undefined || typeof found !== 'object' || found === null) return false;
  const known = countKnown(names, found);
  if (known === 0) return true;
  return names.size >= ENOUGH_FIELDS && known < names.size / 2 && known < Object.keys(found).length;
}

/**
 * Returns how many of the documented fields an object has. Each documented name is looked up in the object, because a
 * malicious object can have tens of thousands of names.
 */
function countKnown(names: ReadonlySet<string>, found: object): number {
  let known = 0;
  for (const name of names) if (Object.hasOwn(found, name)) known += 1;
  return known;
}

/** Returns true if an object has any of the documented fields. */
function hasKnown(shape: FieldShape, value: unknown, at: string): boolean {
  const names = shapeAt(shape, at)?.object?.names;
  const found = valueAt(value, at);
  return names !== undefined && typeof found === 'object' && found !== null && countKnown(names, found) > 0;
}

/** Returns the innermost of the given objects that contains the value at a JSON pointer, or undefined if none does. */
function ancestorIn(objects: ReadonlySet<string>, at: string): string | undefined {
  for (let above = at; above !== '';) {
    above = parentOf(above);
    if (objects.has(above)) return above;
  }
  return undefined;
}

const isEmpty = (value: unknown) => typeof value === 'object' && value !== null && Object.keys(value).length === 0;

const parentOf = (at: string) => at.slice(0, at.lastIndexOf('/'));

const isWithin = (at: string, above: string) => at === above || at.startsWith(`${above}/`);
