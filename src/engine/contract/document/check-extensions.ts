import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Fault } from '../../model/fault.ts';
import { CONTRACT_SOURCE } from '../contract-files.ts';
import { boundedMemo } from '../../../lib/bounded-maps.ts';
import { schemaMessage } from '../../../lib/schema-message.ts';
import { closestName } from '../../../lib/closest-name.ts';

const MAX_FAULTS = 50;

/** Checks the document's vendor extensions against the JSON Schema in `schemaText`. */
export function checkExtensions(document: unknown, schemaText: string): Fault[] {
  const validate = validatorOf(schemaText);
  if (validate(document)) return [];
  const errors = [...(validate.errors ?? [])];
  return errors
    .filter((error) => isInformative(error, errors))
    .slice(0, MAX_FAULTS)
    .map((error) => toFault(error, errors));
}

/** Compiles the schema. The latest result is remembered, because every reload checks the document at least once. */
const validatorOf = boundedMemo(1, (schemaText: string): ValidateFunction => {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    allowUnionTypes: true,
    strictRequired: false,
    strictTypes: false,
    validateSchema: false,
    meta: false,
    code: { optimize: false },
  });
  return ajv.compile(JSON.parse(schemaText) as Record<string, unknown>);
});

/** Returns false if another error at the same location explains the problem better. */
function isInformative(error: ErrorObject, all: readonly ErrorObject[]): boolean {
  if (error.propertyName !== undefined) return false;
  if (error.keyword === 'anyOf')
    return !all.some((other) => other.keyword === 'propertyNames' && sameBranch(other, error));
  return !error.schemaPath.includes('/anyOf/');
}

const sameBranch = (a: ErrorObject, b: ErrorObject) => b.instancePath.startsWith(a.instancePath);

function toFault(error: ErrorObject, all: readonly ErrorObject[]): Fault {
  const fault = { source: CONTRACT_SOURCE, pointer: error.instancePath };
  if (error.keyword === 'additionalProperties')
    return { ...fault, message: `${String(error.params['additionalProperty'])} is not allowed here` };
  if (error.keyword !== 'propertyNames') return { ...fault, message: schemaMessage(error) };
  const name = String(error.params['propertyName']);
  const allowed = all
    .filter((other) => other.propertyName === name && other.keyword === 'enum')
    .flatMap((other) => other.params['allowedValues'] as string[]);
  const suggestion = closestName(name, allowed);
  return { ...fault, message: `${name} is not a known extension here`, ...(suggestion && { suggestion }) };
}
