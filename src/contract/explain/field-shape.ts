import { keysOf } from '../../lib/json-pointer.ts';

/** What the contract knows of the fields of a value; undefined where it leaves the value open or has nothing to tell fields of. */
export type FieldShape = ObjectShape | undefined;

/** A place of the contract where values have fields that it names. */
export interface ObjectShape {
  /** The fields of an object here; undefined where no object is described. */
  object: KnownFields | undefined;
  /** The elements of an array here; undefined where they are open or no array is described. */
  elements: FieldShape;
}

/** The fields that an object may have. */
export interface KnownFields {
  readonly names: ReadonlySet<string>;
  /** True where a field beyond these is somebody else's to tell: the contract allows it, or closes the object. */
  readonly settled: boolean;
  /** The fields whose own values have fields that are known. */
  readonly inner: readonly InnerField[];
  /** The fields of the last object that had only known ones, in its order: most objects of a list are alike. */
  order: readonly string[];
}

/** A field whose value is looked into. */
export interface InnerField {
  readonly name: string;
  readonly shape: ObjectShape;
}

/** What the contract knows of the fields at a JSON pointer. */
export function shapeAt(shape: FieldShape, pointer: string): FieldShape {
  let here = shape;
  for (const name of keysOf(pointer)) {
    here = here?.object?.inner.find((field) => field.name === name)?.shape ?? here?.elements;
  }
  return here;
}
