import type { FieldShape } from './field-shape.ts';

/** What the contract knows of the fields at a JSON pointer. */
export function shapeAt(shape: FieldShape, pointer: string): FieldShape {
  let here = shape;
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    here = here?.object?.inner.find((field) => field.name === name)?.shape ?? here?.elements;
  }
  return here;
}
