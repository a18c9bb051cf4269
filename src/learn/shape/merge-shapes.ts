import { emptyObjects, emptyShape, type FieldShape, type ObjectCounts, type Shape } from './shape.ts';
import type { TextForm } from './text-form.ts';

/** Returns a new shape with the counts of both shapes. */
export function mergeShapes(a: Shape | undefined, b: Shape | undefined): Shape {
  const merged = emptyShape();
  for (const shape of [a, b]) if (shape !== undefined) addShape(merged, shape);
  return merged;
}

function addShape(into: Shape, from: Shape): void {
  into.seen += from.seen;
  // Both shapes may contain the same responses, so the sum could be too high.
  into.answers = Math.max(into.answers, from.answers);
  into.firstSeenAt = Math.min(into.firstSeenAt || from.firstSeenAt, from.firstSeenAt || into.firstSeenAt);
  into.lastSeenAt = Math.max(into.lastSeenAt, from.lastSeenAt);
  into.nulls += from.nulls;
  into.booleans += from.booleans;
  into.fractions += from.fractions;
  into.cut ||= from.cut;
  if (from.integers !== undefined) {
    const counts = (into.integers ??= { seen: 0, wide: 0, negative: 0, instants: 0 });
    counts.seen += from.integers.seen;
    counts.wide += from.integers.wide;
    counts.negative += from.integers.negative;
    counts.instants += from.integers.instants;
  }
  if (from.texts !== undefined) {
    const counts = (into.texts ??= { seen: 0, forms: {} });
    counts.seen += from.texts.seen;
    for (const [form, count] of Object.entries(from.texts.forms) as [TextForm, number][])
      counts.forms[form] = (counts.forms[form] ?? 0) + count;
  }
  if (from.arrays !== undefined) {
    const counts = (into.arrays ??= { seen: 0, items: emptyShape() });
    counts.seen += from.arrays.seen;
    addShape(counts.items, from.arrays.items);
  }
  if (from.objects !== undefined) addObjects((into.objects ??= emptyObjects()), from.objects);
}

function addObjects(into: ObjectCounts, from: ObjectCounts): void {
  into.seen += from.seen;
  into.answers = Math.max(into.answers, from.answers);
  into.nameless += from.nameless;
  into.map ||= from.map;
  if (from.rest !== undefined) addShape((into.rest ??= emptyShape()), from.rest);
  if (from.rare !== undefined) addShape((into.rare ??= emptyShape()), from.rare);
  for (const [name, { present, optional, shape }] of from.fields) {
    const field: FieldShape = into.fields.get(name) ?? { present: 0, optional: false, shape: emptyShape() };
    field.present += present;
    field.optional ||= optional;
    addShape(field.shape, shape);
    into.fields.set(name, field);
  }
}
