import { escapePointer } from '../../lib/json-pointer.ts';
import type { SchemaObject } from '../openapi-document.ts';

/** An error in a value, found by validating the value against a schema. */
export interface SchemaError {
  readonly keyword: string;
  /** The JSON pointer to the invalid part of the value. */
  readonly at: string;
  /** The schema that contains the keyword, as a file and a JSON pointer into it. */
  readonly schema: string;
  /** The value of the keyword in the schema. */
  readonly limit: unknown;
}

/** The generated schemas, keyed by their path relative to the schema folder. */
export type SchemaFiles = ReadonlyMap<string, SchemaObject>;

/** Returns the errors of an invalid value, in the order in which Ajv reports them. */
export type Explain = (value: unknown) => readonly SchemaError[];

const placesByFiles = new WeakMap<SchemaFiles, ReadonlyMap<unknown, string>>();

/** Returns the location of each schema as a file and a JSON pointer into that file. */
export function placesIn(files: SchemaFiles): ReadonlyMap<unknown, string> {
  const known = placesByFiles.get(files);
  if (known !== undefined) return known;
  const places = new Map<unknown, string>();
  const visit = (value: unknown, place: string): void => {
    if (typeof value !== 'object' || value === null) return;
    places.set(value, place);
    for (const [key, child] of Object.entries(value)) visit(child, `${place}/${escapePointer(key)}`);
  };
  for (const [file, schema] of files) visit(schema, `${file}#`);
  placesByFiles.set(files, places);
  return places;
}
