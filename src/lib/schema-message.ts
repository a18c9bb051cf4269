import type { ErrorObject } from 'ajv';
import { closestName } from './closest-name.ts';
import { membersOf } from './plain-object.ts';

const TYPES: Readonly<Record<string, string>> = {
  object: 'a mapping of keys to values',
  array: 'a list',
  string: 'a string',
  boolean: 'true or false',
  number: 'a number',
  integer: 'a whole number',
  null: 'null',
};

const typeWords = (type: unknown) =>
  [type]
    .flat()
    .map((one) => TYPES[String(one)] ?? String(one))
    .join(' or ');

const counted = (count: unknown, one: string) => `${String(count)} ${one}${count === 1 ? '' : 's'}`;
const quoted = (value: unknown) => JSON.stringify(value) ?? '';

/** The message for each keyword, given the keyword's value in the schema and the parameters of the error. */
const WORDS: Readonly<Record<string, (value: unknown, params: Readonly<Record<string, unknown>>) => string>> = {
  type: (value) => `must be ${typeWords(value)}`,
  required: (_value, { missingProperty }) => `requires the key ${String(missingProperty)}`,
  dependentRequired: (_value, { property, missingProperty }) =>
    `requires the key ${String(missingProperty)} in addition to ${String(property)}`,
  additionalProperties: (_value, { additionalProperty }) => `has the unknown key ${String(additionalProperty)}`,
  unevaluatedProperties: (_value, { unevaluatedProperty }) => `has the unknown key ${String(unevaluatedProperty)}`,
  propertyNames: (_value, { propertyName }) => `has the key ${quoted(propertyName)}, which is not a valid name`,
  enum: (_value, { allowedValues }) => `must be one of ${[allowedValues].flat().map(String).join(', ')}`,
  const: (value) => `must be ${quoted(value)}`,
  minLength: (value) => (value === 1 ? 'must not be empty' : `must have at least ${counted(value, 'character')}`),
  maxLength: (value) => `must have at most ${counted(value, 'character')}`,
  minItems: (value) => (value === 1 ? 'must not be empty' : `must have at least ${counted(value, 'item')}`),
  maxItems: (value) => `must have at most ${counted(value, 'item')}`,
  minProperties: (value) => (value === 1 ? 'must not be empty' : `must have at least ${counted(value, 'key')}`),
  maxProperties: (value) => `must have at most ${counted(value, 'key')}`,
  uniqueItems: (_value, { i, j }) => `has the same item twice, at ${String(j)} and ${String(i)}`,
  minimum: (value) => `must be at least ${String(value)}`,
  maximum: (value) => `must be at most ${String(value)}`,
  exclusiveMinimum: (value) => `must be greater than ${String(value)}`,
  exclusiveMaximum: (value) => `must be less than ${String(value)}`,
  multipleOf: (value) => `must be a multiple of ${String(value)}`,
  pattern: (value) => `must match the regular expression ${String(value)}`,
  format: (value) => (value === 'regex' ? 'must be a regular expression' : `must have the format ${String(value)}`),
  not: () => 'is not allowed here',
  'false schema': () => 'is not allowed here',
};

/** Describes an error of a schema validator for users, in words that do not presume any knowledge of JSON Schema. */
export function schemaMessage({ keyword, schema, params }: ErrorObject & { readonly schema?: unknown }): string {
  const words = Object.hasOwn(WORDS, keyword) ? WORDS[keyword] : undefined;
  return words?.(schema ?? valueIn(params), params) ?? 'does not have any of the allowed forms';
}

/** Without the validator's verbose option, an error has its keyword's value only in its parameters. */
const valueIn = (params: Readonly<Record<string, unknown>>) =>
  params['limit'] ?? params['type'] ?? params['allowedValue'] ?? params['pattern'] ?? params['format'];

/** Returns the key that was probably meant by an unknown key. The validator must have the verbose option. */
export function meantKey({ keyword, params, parentSchema }: ErrorObject): string | undefined {
  if (keyword !== 'additionalProperties') return undefined;
  return closestName(
    String(params['additionalProperty']),
    Object.keys(membersOf(membersOf(parentSchema)['properties'])),
  );
}

/**
 * Returns some of the errors, without those about a key that is missing only because it is misspelled. `all` contains
 * all errors of the validator, which must have the options allErrors and verbose.
 */
export function withoutMisspelled(errors: readonly ErrorObject[], all = errors): ErrorObject[] {
  const meant = new Set(all.map((error) => `${error.instancePath}/${meantKey(error) ?? ''}`));
  const misspelled = all.filter(
    ({ keyword, instancePath, params }) =>
      keyword === 'required' && meant.has(`${instancePath}/${String(params['missingProperty'])}`),
  );
  const isConsequence = (error: ErrorObject) =>
    misspelled.some(
      (one) =>
        one === error ||
        // A choice between required keys, such as `oneOf/0/required`.
        (one.instancePath === error.instancePath && choiceOf(one) === error.schemaPath),
    );
  return errors.filter((error) => !isConsequence(error));
}

/** Returns the path of the choice that an error belongs to, such as `#/oneOf` for `#/oneOf/0/required`. */
const choiceOf = ({ schemaPath }: ErrorObject) => /^(.*)\/\d+\/required$/.exec(schemaPath)?.[1];
