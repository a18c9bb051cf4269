import type { Violation } from '../model/violation.ts';
import { findErrors, type SchemaFiles } from './find-errors.ts';
import { type SchemaPlace, toViolations } from './schema-violation.ts';

/** Applies a compiled schema to a value and tells what is wrong. */
export type SchemaCheck = (value: unknown) => Violation[];

/** One schema: compiled to a verdict, and as it is written, to say why. */
export interface CompiledSchema {
  readonly accepts: (value: unknown) => boolean;
  readonly file: string;
  readonly files: SchemaFiles;
}

/** How many elements of each array are looked at for more than the first error. */
const MAX_ELEMENTS = 25;

/** More than any configuration collects. */
const MAX_ERRORS = 1000;

/**
 * Turns a compiled schema into a check; its callers cap what is told. Ajv says whether a value is right, and stops at the
 * first error. Why it is not is looked for afterwards, in the schema as it is written: Ajv would need every schema compiled
 * a second time for that, and time quadratic in the number of errors.
 */
export function toSchemaCheck(compiled: CompiledSchema | undefined, place: SchemaPlace): SchemaCheck {
  if (!compiled) return () => [];
  const { accepts, file, files } = compiled;
  return (value) => {
    if (accepts(value)) return [];
    const all = findErrors(files, file, value, { elements: MAX_ELEMENTS, errors: MAX_ERRORS });
    if (all.length > 0) return toViolations(all, place);
    const [first] = findErrors(files, file, value, { elements: Number.POSITIVE_INFINITY, errors: 1 });
    // Whatever cannot be explained is wrong all the same.
    return toViolations([first ?? { keyword: 'schema', at: '', schema: `${file}#`, limit: undefined }], place);
  };
}
