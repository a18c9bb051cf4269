import { keysOf } from '../../lib/json-pointer.ts';

/**
 * The documented fields of a value. Undefined if the contract leaves the value open, or if the value cannot contain
 * unknown fields.
 */
export type FieldShape = ObjectShape | undefined;

/** The documented fields of an object or of an array's elements. */
export interface ObjectShape {
  /** The fields of an object. Undefined if the contract describes no object here. */
  object: KnownFields | undefined;
  /** The elements of an array. Undefined if the contract describes no array here or leaves the elements open. */
  elements: FieldShape;
}

/** The documented fields of an object. */
export interface KnownFields {
  readonly names: ReadonlySet<string>;
  /** True if no other fields are reported here, because the contract already states whether they are allowed. */
  readonly settled: boolean;
  /** The fields whose values also have documented fields. */
  readonly inner: readonly InnerField[];
  /**
   * The field names, in order, of the last object that had no unknown fields. Most objects in a list have the same
   * fields.
   */
  order: readonly string[];
}

/** A field whose value is also searched for unknown fields. */
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
