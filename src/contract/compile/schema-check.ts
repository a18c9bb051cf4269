import type { Violation } from '../../model/violation.ts';
import { createDescribeFound, type DescribeFound } from '../explain/schema-violation.ts';
import { compileFieldShape } from '../explain/compile-field-shape.ts';
import { findUnknownFields } from '../explain/find-unknown-fields.ts';
import { findErrors, type SchemaError, type SchemaFiles } from '../explain/find-errors.ts';
import { ofFirstKinds } from '../violations.ts';
import { oneCause } from '../explain/one-cause.ts';
import { type SchemaPlace, toViolations } from '../explain/schema-violation.ts';
import { unknownFieldViolation } from '../explain/unknown-field.ts';

/** Applies a compiled schema to a value and tells what is wrong, then which fields the contract does not know. */
export type SchemaCheck = (value: unknown) => Violation[];

/** One schema: compiled to a verdict, and as it is written, to say why. */
export interface CompiledSchema {
  readonly accepts: (value: unknown) => boolean;
  readonly file: string;
  readonly files: SchemaFiles;
}

/** What a check does beside judging. */
export interface CheckOptions {
  /** True tells fields that the schema does not know; such a value is accepted all the same. */
  readonly unknownFields?: boolean;
  /** Says what stands where something is wrong. */
  readonly describe?: DescribeFound;
  /** How much is told at most, of what is wrong and of what is not known each; of an answer, how many kinds. */
  readonly max?: number;
}

/** How many elements of each array are looked at for more than the first error. */
const MAX_ELEMENTS = 25;

/** More than any configuration collects. */
const MAX_ERRORS = 1000;

/**
 * Turns a compiled schema into a check; Ajv says whether a value is right, and stops at the
 * first error. Why it is not is looked for afterwards, in the schema as it is written: Ajv would need every schema compiled
 * a second time for that, and time quadratic in the number of errors.
 */
export function toSchemaCheck(
  compiled: CompiledSchema | undefined,
  place: SchemaPlace,
  { unknownFields = false, describe = createDescribeFound(new Set()), max = MAX_ERRORS }: CheckOptions = {},
): SchemaCheck {
  if (!compiled) return () => [];
  const { accepts, file, files } = compiled;
  const shape = unknownFields ? compileFieldShape(files, file) : undefined;
  return (value) => {
    const unknown = findUnknownFields(shape, value, max);
    if (accepts(value)) return unknown.map((field) => unknownFieldViolation(field, place));
    const causes = oneCause(shape, value, whyNot(files, file, value), unknown);
    // A client is told of each item that it has to mend; what a server does to every item of a list is one thing.
    const told = place.direction === 'request' ? causes.errors.slice(0, max) : ofFirstKinds(causes.errors, max);
    return [
      ...toViolations(told, place, (at, keyword) => describe(value, at, keyword)),
      ...causes.unknown.map((field) => unknownFieldViolation(field, place)),
    ];
  };
}

function whyNot(files: SchemaFiles, file: string, value: unknown): SchemaError[] {
  const all = findErrors(files, file, value, { elements: MAX_ELEMENTS, errors: MAX_ERRORS, meantOnly: true });
  if (all.length > 0) return all;
  const [first] = findErrors(files, file, value, { elements: Number.POSITIVE_INFINITY, errors: 1 });
  // Whatever cannot be explained is wrong all the same.
  return [first ?? { keyword: 'schema', at: '', schema: `${file}#`, limit: undefined }];
}
