import { keysOf } from '../../lib/json-pointer.ts';

/**
 * The fields of a value in the contract; undefined if the contract leaves the value open or it cannot contain unknown
 * fields.
 */
export type FieldShape = ObjectShape | undefined;

/** A part of the contract that names the fields of its values. */
export interface ObjectShape {
  /** The fields of an object; undefined if no object is described. */
  object: KnownFields | undefined;
  /** The elements of an array; undefined if they are open or no array is described. */
  elements: FieldShape;
}

/** The documented fields of an object. */
export interface KnownFields {
  readonly names: ReadonlySet<string>;
  /** True if other fields are not reported here, because the contract already states whether they are allowed. */
  readonly settled: boolean;
  /** The fields whose own values have documented fields. */
  readonly inner: readonly InnerField[];
  /** The fields of the last object without unknown fields, in order: most objects of a list have the same fields. */
  order: readonly string[];
}

/** A field whose value is also searched. */
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
