import type { Violation } from '../../model/violation.ts';
import { createDescribeFound, type DescribeFound } from '../explain/schema-violation.ts';
import { compileFieldShape } from '../explain/compile-field-shape.ts';
import { findUnknownFields } from '../explain/find-unknown-fields.ts';
import type { Explain, SchemaFiles } from '../explain/schema-errors.ts';
import { ofFirstKinds } from '../violations.ts';
import { oneCause } from '../explain/one-cause.ts';
import { type SchemaPlace, toViolations } from '../explain/schema-violation.ts';
import { unknownFieldViolation } from '../explain/unknown-field.ts';

/** Applies a compiled schema to a value and returns its violations, followed by its undocumented fields. */
export type SchemaCheck = (value: unknown) => Violation[];

/** One schema, compiled twice: to decide whether a value is valid, and to explain why it is not. */
export interface CompiledSchema {
  readonly accepts: (value: unknown) => boolean;
  readonly explain: Explain;
  readonly file: string;
  readonly files: SchemaFiles;
}

/** Options of a check. */
export interface CheckOptions {
  /** True reports undocumented fields, which do not make a value invalid. */
  readonly unknownFields?: boolean;
  /** Describes the value found at a violation. */
  readonly describe?: DescribeFound;
  /** The maximum number of errors and of undocumented fields reported; for responses, the maximum number of kinds. */
  readonly max?: number;
}

/** The limit where the caller sets none; no configuration can exceed it. */
const MAX_ERRORS = 1000;

/**
 * Turns a compiled schema into a check. The deciding validator stops at the first error, because nearly every value is
 * valid; only invalid values are explained.
 */
export function toSchemaCheck(
  compiled: CompiledSchema | undefined,
  place: SchemaPlace,
  { unknownFields = false, describe = createDescribeFound(new Set()), max = MAX_ERRORS }: CheckOptions = {},
): SchemaCheck {
  if (!compiled) return () => [];
  const { accepts, explain, file, files } = compiled;
  const shape = unknownFields ? compileFieldShape(files, file) : undefined;
  return (value) => {
    const unknown = findUnknownFields(shape, value, max);
    if (accepts(value)) return unknown.map((field) => unknownFieldViolation(field, place));
    const causes = oneCause(shape, value, explain(value), unknown);
    // A client needs each item that it must fix. The same error of a server in every item of a list is one violation.
    const selected = place.direction === 'request' ? causes.errors.slice(0, max) : ofFirstKinds(causes.errors, max);
    return [
      ...toViolations(selected, place, (at, keyword) => describe(value, at, keyword)),
      ...causes.unknown.map((field) => unknownFieldViolation(field, place)),
    ];
  };
}
