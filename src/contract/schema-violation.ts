import type { ErrorObject } from 'ajv/dist/2020.js';
import type { CheckName } from '../model/checks.ts';
import type { Violation, ViolationCategory, ViolationLocation } from '../model/violation.ts';

/** In which part of which message a schema was applied. */
export interface SchemaPlace {
  readonly check: CheckName;
  readonly direction: 'request' | 'response';
  readonly location: ViolationLocation;
}

const CATEGORIES: Readonly<Record<string, ViolationCategory>> = {
  required: 'missing',
  type: 'type',
  anyOf: 'type',
  pattern: 'format',
  enum: 'enum',
  const: 'enum',
  not: 'undocumented',
  minimum: 'bounds',
  maximum: 'bounds',
  minLength: 'bounds',
  maxLength: 'bounds',
  minItems: 'bounds',
  maxItems: 'bounds',
};

/** Copies Ajv's errors, which the next validation overwrites; none with a value of the message. */
export function toViolations(
  errors: readonly ErrorObject[],
  place: SchemaPlace,
  pointers: WeakMap<object, string>,
): Violation[] {
  const choices = errors.filter((error) => error.keyword === 'anyOf').map((error) => error.instancePath);
  // Errors under an `anyOf` only tell why each of its branches was not it.
  const telling =
    choices.length === 0 ? errors : errors.filter((error) => error.keyword === 'anyOf' || !under(error, choices));
  return telling.map((error) => toViolation(error, place, pointers));
}

const under = (error: ErrorObject, choices: readonly string[]) =>
  choices.some((path) => error.instancePath === path || error.instancePath.startsWith(`${path}/`));

function toViolation(error: ErrorObject, place: SchemaPlace, pointers: WeakMap<object, string>): Violation {
  const missing = error.keyword === 'required' ? `/${escape(String(error.params['missingProperty']))}` : '';
  const at = error.instancePath + missing;
  const schema = error.parentSchema && pointers.get(error.parentSchema);
  return {
    ...place,
    category: CATEGORIES[error.keyword] ?? 'format',
    at,
    keyword: error.keyword,
    schemaPath: schema === undefined ? '' : `${schema}/${error.keyword}`,
    message: `${at === '' ? 'the body' : at} ${sentence(error)}`,
  };
}

const escape = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

function sentence(error: ErrorObject): string {
  const params = error.params as Readonly<Record<string, unknown>>;
  switch (error.keyword) {
    case 'required':
      return 'is missing';
    case 'type':
      return `must be ${[params['type']].flat().join(' or ')}`;
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`;
    case 'const':
      return `must be ${String(params['allowedValue'])}`;
    case 'pattern':
      return 'must have the documented form';
    case 'anyOf':
      return 'must have one of the documented shapes';
    case 'not':
      return 'must be absent';
    default:
      // Ajv's words for bounds name the limit and never the value.
      return error.message ?? 'is not as documented';
  }
}
