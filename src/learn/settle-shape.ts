import { mergeShapes } from './merge-shapes.ts';
import { emptyObjects, kindsOf, type ObjectCounts, type Shape } from './shape.ts';

/** Which names of unknown fields are told. */
export interface Settling {
  /** Distinct answers below which the name of a field is told to nobody. */
  readonly minAnswers: number;
  readonly isPersonal: (text: string) => boolean;
  /** True for a name that the contract has for some field: it is nobody's. */
  readonly isDocumented: (name: string) => boolean;
}

const MAP_NAMES = 12;
const MAP_PRESENCE = 0.3;
const MAP_SHARE = 0.25;
const ALWAYS = 0.9;

/** A copy that may be written down: names that may be somebody's, and names seen too seldom, are not in it. */
export function settleShape(shape: Shape, settling: Settling): Shape {
  return {
    ...shape,
    mark: 0,
    ...(shape.arrays && { arrays: { seen: shape.arrays.seen, items: settleShape(shape.arrays.items, settling) } }),
    ...(shape.objects && { objects: settleObjects(shape.objects, settling) }),
  };
}

/** The same for the members of objects. */
export function settleObjects(counts: ObjectCounts, settling: Settling): ObjectCounts {
  const settled = emptyObjects();
  settled.seen = counts.seen;
  settled.nameless = counts.nameless;
  settled.map = counts.map || isMap(counts);
  settled.rest = counts.rest && settleShape(counts.rest, settling);
  settled.rare = counts.rare && settleShape(counts.rare, settling);
  const members = counts.nameless + [...counts.fields.values()].reduce((sum, { shape }) => sum + shape.seen, 0);
  const manyNameless = counts.nameless >= members * MAP_SHARE;
  for (const [name, field] of counts.fields) {
    const shape = settleShape(field.shape, settling);
    // Beside keys that are data, a member of the same kind is one more of them, however its name reads; in a record that
    // has one such key, a field that is always there is none.
    const loose = manyNameless || field.present < counts.seen * ALWAYS;
    const alike = settled.rest !== undefined && loose && sameKinds(shape, settled.rest);
    const nobodys = settling.isDocumented(name) && !settled.map;
    if (!nobodys && (settled.map || alike || settling.isPersonal(name))) {
      settled.nameless += field.shape.seen;
      settled.rest = mergeShapes(settled.rest, shape);
    } else if (field.shape.answers < settling.minAnswers) settled.rare = mergeShapes(settled.rare, shape);
    else settled.fields.set(name, { present: field.present, shape });
  }
  return settled;
}

/** Many names, each of which few objects have, and all members of one kind: keys that are data. */
function isMap({ fields, seen }: ObjectCounts): boolean {
  if (fields.size < MAP_NAMES || seen === 0) return false;
  const shapes = [...fields.values()];
  const [first] = shapes;
  const presence = shapes.reduce((sum, { present }) => sum + present, 0) / (shapes.length * seen);
  return first !== undefined && presence < MAP_PRESENCE && shapes.every(({ shape }) => sameKinds(shape, first.shape));
}

function sameKinds(a: Shape, b: Shape): boolean {
  const has = new Set(kindsOf(b));
  return kindsOf(a).every((kind) => kind === 'null' || has.has(kind));
}
