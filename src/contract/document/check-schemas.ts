import { closestName } from '../../lib/closest-name.ts';
import { escapePointer } from '../../lib/json-pointer.ts';
import type { Fault } from '../../model/fault.ts';
import { CONTRACT_SOURCE } from '../contract-files.ts';
import type { OpenApiDocument, SchemaOrBoolean } from '../openapi-document.ts';

/** Returns an error message if a keyword's value is invalid, or undefined otherwise. */
type ValueCheck = (value: unknown) => string | undefined;

const TYPES = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'];

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
const check =
  (isCorrect: (value: unknown) => boolean, message: string): ValueCheck =>
  (value) =>
    isCorrect(value) ? undefined : message;
const isStringList = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === 'string');
const isSchema = (value: unknown) =>
  typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value));
const number = check((value) => typeof value === 'number' && Number.isFinite(value), 'must be a number');
const count = check(isCount, 'must be a whole number of at least 0');
const text = check((value) => typeof value === 'string', 'must be a string');
const flag = check((value) => typeof value === 'boolean', 'must be true or false');
const schema = check(isSchema, 'must be a schema');
const schemas = check(
  (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema),
  'must be a list of schemas',
);
const anything: ValueCheck = () => undefined;

/** The keywords that the contract's schemas may use, each with a check of its value. */
const KEYWORDS: Readonly<Record<string, ValueCheck>> = {
  $ref: text,
  type: check(
    (value) => [value].flat().length > 0 && [value].flat().every((one) => TYPES.includes(one as string)),
    `must be ${TYPES.join(', ')}, or a list of these`,
  ),
  enum: check((value) => Array.isArray(value) && value.length > 0, 'must be a list with at least one value'),
  const: anything,
  required: check(isStringList, 'must be a list of names'),
  properties: check(
    (value) => isSchema(value) && typeof value === 'object',
    'must be an object whose members are schemas',
  ),
  additionalProperties: schema,
  items: schema,
  not: schema,
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  minimum: number,
  maximum: number,
  exclusiveMinimum: number,
  exclusiveMaximum: number,
  multipleOf: check((value) => typeof value === 'number' && value > 0, 'must be a number greater than 0'),
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  minProperties: count,
  maxProperties: count,
  pattern: check(isRegularExpression, 'must be a regular expression'),
  'x-expected-pattern': check(isRegularExpression, 'must be a regular expression'),
  ...Object.fromEntries(['title', 'description', 'format', '$comment'].map((name) => [name, text])),
  ...Object.fromEntries(['deprecated', 'readOnly', 'writeOnly'].map((name) => [name, flag])),
  ...Object.fromEntries(
    ['default', 'example', 'examples', 'externalDocs', 'xml', 'discriminator'].map((name) => [name, anything]),
  ),
};

/** Checks that the schemas in a document use only supported keywords, and that these keywords have valid values. */
export function checkSchemas(document: OpenApiDocument): Fault[] {
  const faults: Fault[] = [];
  const visit = (place: SchemaOrBoolean, pointer: string): void => {
    if (typeof place === 'boolean') return;
    const wrong = Object.entries(place).flatMap(([keyword, value]) => keywordFaults(keyword, value, pointer));
    faults.push(...wrong);
    if (wrong.length > 0) return;
    const { properties = {}, items, not, additionalProperties } = place;
    for (const [name, child] of Object.entries(properties))
      visit(child, `${pointer}/properties/${escapePointer(name)}`);
    for (const [keyword, child] of Object.entries({ items, not, additionalProperties }))
      if (child !== undefined) visit(child, `${pointer}/${keyword}`);
    for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const)
      (place[keyword] ?? []).forEach((child, index) => visit(child, `${pointer}/${keyword}/${index}`));
  };
  for (const { schema: found, pointer } of schemasOf(document, '', [])) visit(found, pointer);
  return faults;
}

interface FoundSchema {
  readonly schema: SchemaOrBoolean;
  readonly pointer: string;
}

/** Returns the schemas of all resources, and the values of all other `schema` keys that are not inside examples. */
function schemasOf(value: unknown, pointer: string, path: readonly string[]): FoundSchema[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]: [string, unknown]) => {
    if (key === 'examples' || key === 'example') return [];
    const at = `${pointer}/${escapePointer(key)}`;
    const isResource = path.length === 2 && path[0] === 'components' && path[1] === 'schemas';
    if (isResource || key === 'schema') return [{ schema: child as SchemaOrBoolean, pointer: at }];
    return schemasOf(child, at, [...path, key]);
  });
}

function keywordFaults(keyword: string, value: unknown, pointer: string): Fault[] {
  if (keyword.startsWith('x-') && !Object.hasOwn(KEYWORDS, keyword)) return [];
  const at = { source: CONTRACT_SOURCE, pointer: `${pointer}/${escapePointer(keyword)}` };
  if (!Object.hasOwn(KEYWORDS, keyword)) {
    const suggestion = closestName(keyword, Object.keys(KEYWORDS));
    return [{ ...at, message: 'is not a supported schema keyword', ...(suggestion && { suggestion }) }];
  }
  const message = KEYWORDS[keyword]?.(value);
  return message === undefined ? [] : [{ ...at, message }];
}

function isRegularExpression(value: unknown): boolean {
  try {
    return typeof value === 'string' && new RegExp(value, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
