import { closestName } from '../../lib/closest-name.ts';
import { escapePointer } from '../../lib/json-pointer.ts';
import type { Fault } from '../../model/fault.ts';
import { CONTRACT_SOURCE } from '../contract-files.ts';
import type { OpenApiDocument, SchemaOrBoolean } from '../openapi-document.ts';

type Wrong = (value: unknown) => string | undefined;

const TYPES = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'];

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
const unless =
  (right: (value: unknown) => boolean, message: string): Wrong =>
  (value) =>
    right(value) ? undefined : message;
const isTexts = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === 'string');
const isSchema = (value: unknown) =>
  typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value));
const number = unless((value) => typeof value === 'number' && Number.isFinite(value), 'must be a number');
const count = unless(isCount, 'must be a whole number, 0 or more');
const text = unless((value) => typeof value === 'string', 'must be text');
const truth = unless((value) => typeof value === 'boolean', 'must be true or false');
const schema = unless(isSchema, 'must be a schema');
const schemas = unless(
  (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema),
  'must be a list of schemas',
);
const anything: Wrong = () => undefined;

/** Every keyword that schemas of the contract may use, and what is wrong with its value. */
const KEYWORDS_OF_SCHEMAS: Readonly<Record<string, Wrong>> = {
  $ref: text,
  type: unless(
    (value) => [value].flat().length > 0 && [value].flat().every((one) => TYPES.includes(one as string)),
    `must be ${TYPES.join(', ')}, or a list of these`,
  ),
  enum: unless((value) => Array.isArray(value) && value.length > 0, 'must be a list of at least one value'),
  const: anything,
  required: unless(isTexts, 'must be a list of names'),
  properties: unless((value) => isSchema(value) && typeof value === 'object', 'must be an object of schemas'),
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
  multipleOf: unless((value) => typeof value === 'number' && value > 0, 'must be a number above 0'),
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  minProperties: count,
  maxProperties: count,
  pattern: unless(isExpression, 'must be a regular expression'),
  ...Object.fromEntries(['title', 'description', 'format', '$comment'].map((name) => [name, text])),
  ...Object.fromEntries(['deprecated', 'readOnly', 'writeOnly'].map((name) => [name, truth])),
  ...Object.fromEntries(
    ['default', 'example', 'examples', 'externalDocs', 'xml', 'discriminator'].map((name) => [name, anything]),
  ),
};

/** Checks that the schemas of a document use only what Portico generates, and that their keywords have values that fit. */
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

/** The schemas of resources, and whatever is called `schema` elsewhere, but for what only looks like one in an example. */
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
  if (keyword.startsWith('x-')) return [];
  const at = { source: CONTRACT_SOURCE, pointer: `${pointer}/${escapePointer(keyword)}` };
  if (!Object.hasOwn(KEYWORDS_OF_SCHEMAS, keyword)) {
    const suggestion = closestName(keyword, Object.keys(KEYWORDS_OF_SCHEMAS));
    return [{ ...at, message: `is no keyword of schemas here`, ...(suggestion && { suggestion }) }];
  }
  const message = KEYWORDS_OF_SCHEMAS[keyword]?.(value);
  return message === undefined ? [] : [{ ...at, message }];
}

function isExpression(value: unknown): boolean {
  try {
    return typeof value === 'string' && new RegExp(value, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
