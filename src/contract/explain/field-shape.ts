import { keysOf } from '../../lib/json-pointer.ts';
import type { SchemaObject } from '../openapi-document.ts';

/**
 * The documented fields and the expected forms of a value. Undefined if the contract describes neither.
 */
export type FieldShape = ObjectShape | undefined;

/** The documented fields of an object or of an array's elements, or the expected forms of a string. */
export interface ObjectShape {
  /** The fields of an object. Undefined if the contract describes no object here. */
  object: KnownFields | undefined;
  /** The elements of an array. Undefined if the contract describes no array here or leaves the elements open. */
  elements: FieldShape;
  /** The forms that the contract expects a string to have. Any other form causes an advisory. */
  forms: readonly ExpectedForm[];
}

/** A form that the contract expects a string to have. */
export interface ExpectedForm {
  readonly keyword: 'x-expected' | 'x-expected-pattern' | 'x-expected-enum';
  /** The schema that contains the keyword. */
  readonly schema: SchemaObject;
  readonly accepts: (text: string) => boolean;
}

/** The documented fields of an object. */
export interface KnownFields {
  readonly names: ReadonlySet<string>;
  /** The fields that are expected but not required, each with the schema that expects it. */
  readonly expected: ReadonlyMap<string, SchemaObject>;
  /** True if no other fields are reported here, because the contract already states whether they are allowed. */
  readonly settled: boolean;
  /** The fields whose values also have a shape. */
  readonly inner: readonly InnerField[];
  /**
   * The field names of the last object that had no unknown fields, in order. They are compared first, because most
   * objects in a list have the same fields.
   */
  order: readonly string[];
}

/** A field whose value also has a shape. */
export interface InnerField {
  readonly name: string;
  readonly shape: ObjectShape;
}

/** Returns the shape at a JSON pointer. */
export function shapeAt(shape: FieldShape, pointer: string): FieldShape {
  let here = shape;
  for (const name of keysOf(pointer)) {
    here = here?.object?.inner.find((field) => field.name === name)?.shape ?? here?.elements;
  }
  return here;
}
