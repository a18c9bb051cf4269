import type { SchemaObject } from '../openapi-document.ts';

/** One thing that is wrong with a value. */
export interface SchemaError {
  readonly keyword: string;
  /** JSON pointer into the value. */
  readonly at: string;
  /** The file and a JSON pointer into it: the schema that has the keyword. */
  readonly schema: string;
  /** What the keyword asks for. */
  readonly limit: unknown;
}

/** The generated schemas by file, from the folder of schemas. */
export type SchemaFiles = ReadonlyMap<string, SchemaObject>;

/** Returns why a value breaks a schema, in the order in which Ajv reports it; nothing for a value that does not. */
export type Explain = (value: unknown) => readonly SchemaError[];
