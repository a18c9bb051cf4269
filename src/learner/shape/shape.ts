import type { TextForm } from './text-form.ts';

/** The values of one member in the objects at a place, and how often the member occurred. */
interface FieldShape {
  /** The number of complete objects that have the member. Responses whose fields the caller selected are ignored. */
  present: number;
  /** True if an object that was counted with the member was later returned without it. */
  optional: boolean;
  readonly shape: Shape;
}

/** Counts of the strings that occur at a particular place in responses. */
export interface TextCounts {
  seen: number;
  readonly forms: Partial<Record<TextForm, number>>;
}

/** Counts of the integers that occur at a particular place in responses. */
export interface IntegerCounts {
  seen: number;
  /** The number of integers that do not fit in 32 bits. */
  wide: number;
  negative: number;
  /** The number of integers that could be times between 1990 and 2100 in epoch milliseconds. */
  instants: number;
}

/** The number of arrays that occur at a particular place in responses, and the shape of their elements. */
interface ArrayCounts {
  seen: number;
  readonly items: Shape;
}

/** Counts of the objects that occur at a particular place in responses, and the shapes of their members. */
export interface ObjectCounts {
  /** The number of distinct complete objects. */
  seen: number;
  /** The number of responses that contained objects that had not been counted before. */
  answers: number;
  /** The number of the last response that was counted. */
  mark: number;
  readonly fields: Map<string, FieldShape>;
  /** The number of members whose names are not stored because they may be personal. */
  nameless: number;
  /** The values of members whose names are not stored because they may be personal. Undefined if there are none. */
  rest: Shape | undefined;
  /** The values of members whose names are too rare to be stored. Undefined until the shape has been redacted. */
  rare: Shape | undefined;
  /** True if there were too many names to record. If so, the objects are treated as maps, whose keys are data. */
  map: boolean;
}

/**
 * Describes the values that occur at a particular place in responses. A shape contains types, counts and forms, but no
 * values.
 */
export interface Shape {
  /** The number of values. A value that occurs several times in one item is counted only once. */
  seen: number;
  /** The number of responses with at least one value that had not been counted before. */
  answers: number;
  /** The number of the last response that was counted, so that each response counts only once. */
  mark: number;
  /** When the first value was seen, in epoch milliseconds. 0 if there are no values yet. */
  firstSeenAt: number;
  lastSeenAt: number;
  nulls: number;
  booleans: number;
  /** The number of values that are numbers but not integers. */
  fractions: number;
  integers: IntegerCounts | undefined;
  texts: TextCounts | undefined;
  arrays: ArrayCounts | undefined;
  objects: ObjectCounts | undefined;
  /** True if nested values were not sampled because a limit was reached. */
  cut: boolean;
}

/** The limits on sampling. */
export const SHAPE_LIMITS = {
  depth: 8,
  /** The maximum number of names per object. An object with more members is treated as a map. */
  names: 64,
  /** The maximum number of elements sampled per array. */
  elements: 2000,
  /**
   * The maximum number of undocumented members that are sampled per response. Without a maximum, a response could
   * introduce any number of members.
   */
  members: 5000,
  /** The maximum number of shapes across all places. */
  shapes: 3000,
} as const;

/** Returns a shape without values. */
export function emptyShape(): Shape {
  return {
    seen: 0,
    answers: 0,
    mark: 0,
    firstSeenAt: 0,
    lastSeenAt: 0,
    nulls: 0,
    booleans: 0,
    fractions: 0,
    integers: undefined,
    texts: undefined,
    arrays: undefined,
    objects: undefined,
    cut: false,
  };
}

/** Returns empty object counts. */
export function emptyObjects(): ObjectCounts {
  return { seen: 0, answers: 0, mark: 0, fields: new Map(), nameless: 0, rest: undefined, rare: undefined, map: false };
}

/** Returns the types of the values in a shape as sorted JSON Schema names. */
export function kindsOf(shape: Shape): readonly string[] {
  const kinds = [
    shape.arrays !== undefined && 'array',
    shape.booleans > 0 && 'boolean',
    shape.integers !== undefined && 'integer',
    shape.fractions > 0 && 'number',
    shape.nulls > 0 && 'null',
    shape.objects !== undefined && 'object',
    shape.texts !== undefined && 'string',
  ];
  return kinds.filter((kind) => typeof kind === 'string');
}

/** Returns the names of the members found in every complete object, in alphabetical order. */
export function alwaysPresent({ fields, seen }: ObjectCounts): string[] {
  const always = [...fields].filter(([, { present, optional }]) => present === seen && !optional);
  return always.map(([name]) => name).toSorted();
}

/** Returns a new shape that combines the counts of both shapes. */
export function mergeShapes(a: Shape | undefined, b: Shape | undefined): Shape {
  const merged = emptyShape();
  for (const shape of [a, b]) if (shape !== undefined) addShape(merged, shape);
  return merged;
}

function addShape(into: Shape, from: Shape): void {
  into.seen += from.seen;
  // Both shapes may have counted the same responses, so adding the two numbers could give too high a count.
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

/** Options that determine which names of undocumented fields may be shown. */
export interface RedactOptions {
  /** The minimum number of distinct responses that must contain a field before its name is shown. */
  readonly minResponses: number;
  readonly isPersonal: (text: string) => boolean;
  /** Returns whether the contract has a field with this name. Such a name does not count as personal. */
  readonly isDocumented: (name: string) => boolean;
  /** Returns whether a path segment is a known word. Known words are always shown. */
  readonly isKnownWord: (word: string) => boolean;
}

const MAP_NAMES = 12;
const MAP_PRESENCE = 0.3;
const MAP_SHARE = 0.25;
const ALWAYS = 0.9;

/** Returns a copy that is safe to store, without names that are too rare or may be personal. */
export function redactShape(shape: Shape, options: RedactOptions, name = ''): Shape {
  return {
    ...shape,
    mark: 0,
    ...(shape.arrays && {
      arrays: { seen: shape.arrays.seen, items: redactShape(shape.arrays.items, options, name) },
    }),
    ...(shape.objects && { objects: redactObjects(shape.objects, options, name) }),
  };
}

/**
 * Returns a copy of the member counts that is safe to store. `holder` is the name of the field that contains the
 * objects. It is undefined for objects described by the contract, because they are never maps.
 */
export function redactObjects(counts: ObjectCounts, options: RedactOptions, holder?: string): ObjectCounts {
  const redacted = emptyObjects();
  redacted.seen = counts.seen;
  redacted.answers = counts.answers;
  redacted.nameless = counts.nameless;
  redacted.map = counts.map || isMap(counts) || (holder !== undefined && mayBeMap(counts, holder, options));
  redacted.rest = counts.rest && redactShape(counts.rest, options);
  redacted.rare = counts.rare && redactShape(counts.rare, options);
  const members = counts.nameless + [...counts.fields.values()].reduce((sum, { shape }) => sum + shape.seen, 0);
  // In an object described by the contract, members that are always present count as fields.
  const manyNameless = holder !== undefined && counts.nameless >= members * MAP_SHARE;
  for (const [name, field] of counts.fields) {
    const shape = redactShape(field.shape, options, name);
    // If most names are data, a member whose values have the same types as the others also counts as data, regardless
    // of its name. If only a few names are data, a member that is always present counts as a field.
    const loose = manyNameless || field.present < counts.seen * ALWAYS;
    const alike = redacted.rest !== undefined && loose && sameKinds(shape, redacted.rest);
    const isField = options.isDocumented(name) && !redacted.map;
    if (!isField && (redacted.map || alike || options.isPersonal(name))) {
      redacted.nameless += field.shape.seen;
      redacted.rest = mergeShapes(redacted.rest, shape);
    } else if (field.shape.answers < options.minResponses) redacted.rare = mergeShapes(redacted.rare, shape);
    else redacted.fields.set(name, { ...field, shape });
  }
  return redacted;
}

/**
 * Returns whether the names are data, which is the case if there are many names, most objects have only a few of them,
 * and all values have the same types.
 */
function isMap({ fields, seen }: ObjectCounts): boolean {
  if (fields.size < MAP_NAMES || seen === 0) return false;
  const shapes = [...fields.values()];
  const [first] = shapes;
  const presence = shapes.reduce((sum, { present }) => sum + present, 0) / (shapes.length * seen);
  return first !== undefined && presence < MAP_PRESENCE && shapes.every(({ shape }) => sameKinds(shape, first.shape));
}

/** Names of fields whose values are maps, such as `votesBy`, `perUser` and `reactionMap`. */
const HOLDER = /^by[A-Z_]|By(?:[A-Z]|$)|_by$|^per[A-Z_]|Map$|_map$/;

/** Names of fields whose values are people, such as `codeReviewers`. */
const PEOPLE =
  /(?:user|voter|member|author|name|follower|assignee|reviewer|approver|watcher|owner|editor|reader|moderator|participant|contributor|contact|friend|colleague|employee)s$|people$|staff$/i;

/** Matches a single word, such as a user name (`alice`) or a field name (`size`). */
const SINGLE = /^[A-Za-z][a-z]*\d{0,2}$/;

/**
 * Returns whether the member names might be people's names. This is possible if all values have the same types and, in
 * addition, either the names are single words that are not always present or the field has a name such as `votesBy`. If
 * the names are in fact field names, treating the object as a map is still safe.
 */
function mayBeMap({ fields, seen }: ObjectCounts, holder: string, { isDocumented }: RedactOptions): boolean {
  const all = [...fields];
  const [first] = all;
  if (first === undefined || all.some(([name]) => isDocumented(name))) return false;
  if (!all.every(([, { shape }]) => sameKinds(shape, first[1].shape) && sameKinds(first[1].shape, shape))) return false;
  if (HOLDER.test(holder) || PEOPLE.test(holder)) return true;
  if (!all.every(([name]) => SINGLE.test(name))) return false;
  const most = Math.max(...all.map(([, { present }]) => present));
  return all.length > 1 && most < seen * ALWAYS;
}

function sameKinds(a: Shape, b: Shape): boolean {
  const has = new Set(kindsOf(b));
  return kindsOf(a).every((kind) => kind === 'null' || has.has(kind));
}
