import type { SchemaObject } from '../openapi-document.ts';

/** One error in a value. */
export interface SchemaError {
  readonly keyword: string;
  /** The JSON pointer into the value. */
  readonly at: string;
  /** The file and a JSON pointer into it: the schema that contains the keyword. */
  readonly schema: string;
  /** The value of the keyword in the schema. */
  readonly limit: unknown;
}

/** The generated schemas by file, relative to the folder of schemas. */
export type SchemaFiles = ReadonlyMap<string, SchemaObject>;

/** Returns the errors of an invalid value in the order in which Ajv reports them. */
export type Explain = (value: unknown) => readonly SchemaError[];
