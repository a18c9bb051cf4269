import type { SchemaObject } from '../openapi-document.ts';

/** One error that a schema found in a value. */
export interface SchemaError {
  readonly keyword: string;
  /** The JSON pointer to the part of the value that is invalid. */
  readonly at: string;
  /** The schema that contains the keyword, as a file and a JSON pointer into it. */
  readonly schema: string;
  /** The keyword's value in the schema. */
  readonly limit: unknown;
}

/** The generated schemas by file. The paths are relative to the schema folder. */
export type SchemaFiles = ReadonlyMap<string, SchemaObject>;

/** Returns the errors of an invalid value, in the order in which Ajv reports them. */
export type Explain = (value: unknown) => readonly SchemaError[];
