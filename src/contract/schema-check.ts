import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { Violation } from '../model/violation.ts';
import { type SchemaPlace, toViolations } from './schema-violation.ts';
import { trimArrays } from './trim-arrays.ts';

/** Applies a compiled schema to a value and tells what is wrong; nothing of Ajv's is kept. */
export type SchemaCheck = (value: unknown) => Violation[];

/** One schema compiled twice: to stop at the first error, and to go on. */
export interface CompiledSchema {
  readonly quick: ValidateFunction;
  readonly thorough: ValidateFunction;
  /** Where each schema object stands in the generated files. */
  readonly pointers: WeakMap<object, string>;
}

/** How many elements of each array are looked at for more than the first error. */
const MAX_ELEMENTS = 25;

/**
 * Turns a compiled schema into a check; its callers cap what is told. Ajv's collecting of all errors takes time
 * quadratic in their number, so a value is only searched whole for its first error and then, trimmed, for all of them.
 */
export function toSchemaCheck(compiled: CompiledSchema | undefined, place: SchemaPlace): SchemaCheck {
  if (!compiled) return () => [];
  const { quick, thorough, pointers } = compiled;
  return (value) => {
    if (quick(value)) return [];
    const first = toViolations(quick.errors ?? [], place, pointers);
    const found = thorough(trimArrays(value, MAX_ELEMENTS)) ? [] : toViolations(thorough.errors ?? [], place, pointers);
    return found.length > 0 ? found : first;
  };
}
