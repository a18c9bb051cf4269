import { isDeepStrictEqual } from 'node:util';

/** Keywords in the order in which Ajv applies them; those without a type apply to every value. */
export interface KeywordGroup {
  readonly type?: 'number' | 'string' | 'array' | 'object';
  readonly names: readonly string[];
}

/** Every keyword that the generator writes and that can be broken, but for `type`. */
export const KEYWORD_GROUPS: readonly KeywordGroup[] = [
  { names: ['$ref', 'const', 'enum', 'not', 'anyOf', 'oneOf', 'allOf'] },
  { type: 'number', names: ['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', 'multipleOf'] },
  { type: 'string', names: ['maxLength', 'minLength', 'pattern'] },
  { type: 'array', names: ['maxItems', 'minItems', 'items'] },
  { type: 'object', names: ['maxProperties', 'minProperties', 'required', 'additionalProperties', 'properties'] },
];

/** Keywords that look at a value alone: true when it keeps to them. */
export const KEYWORDS: Readonly<Record<string, ((limit: unknown, value: unknown) => boolean) | undefined>> = {
  maximum: (limit, value) => Number(value) <= Number(limit),
  minimum: (limit, value) => Number(value) >= Number(limit),
  exclusiveMaximum: (limit, value) => Number(value) < Number(limit),
  exclusiveMinimum: (limit, value) => Number(value) > Number(limit),
  multipleOf: (limit, value) => Number.isInteger(Number(value) / Number(limit)),
  maxLength: (limit, value) => lengthUpTo(String(value), Number(limit) + 1) <= Number(limit),
  minLength: (limit, value) => lengthUpTo(String(value), Number(limit)) >= Number(limit),
  pattern: (limit, value) => new RegExp(String(limit), 'u').test(String(value)),
  maxItems: (limit, value) => (value as readonly unknown[]).length <= Number(limit),
  minItems: (limit, value) => (value as readonly unknown[]).length >= Number(limit),
  maxProperties: (limit, value) => Object.keys(value as object).length <= Number(limit),
  minProperties: (limit, value) => Object.keys(value as object).length >= Number(limit),
  const: (limit, value) => isSame(limit, value),
  enum: (limit, value) => (limit as readonly unknown[]).some((one) => isSame(one, value)),
};

/** The number of code points, which are what Ajv counts; counting stops at `most`, since texts can be megabytes long. */
function lengthUpTo(text: string, most: number): number {
  let length = 0;
  for (let at = 0; at < text.length && length < most; length += 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return length;
}

// JSON has a zero below zero, which is zero.
const isSame = (a: unknown, b: unknown) => a === b || isDeepStrictEqual(a, b);

/** True for values of a JSON Schema type. */
export function isType(type: string, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return typeof value === 'number' && Number.isFinite(value) && value % 1 === 0;
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    default:
      return typeof value === type;
  }
}
