import type { FieldShape } from './field-shape.ts';
import { keysOf } from '../../lib/json-pointer.ts';

/** What the contract knows of the fields at a JSON pointer. */
export function shapeAt(shape: FieldShape, pointer: string): FieldShape {
  let here = shape;
  for (const name of keysOf(pointer)) {
    here = here?.object?.inner.find((field) => field.name === name)?.shape ?? here?.elements;
  }
  return here;
}
