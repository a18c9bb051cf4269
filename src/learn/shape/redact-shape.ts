import { mergeShapes, emptyObjects, kindsOf, type ObjectCounts, type Shape } from './shape.ts';

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
 * Returns whether the names are data. Names are data if there are many of them, most objects have only a few of them,
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

/** A single word, which may be a user name (`alice`) or a field name (`size`). */
const SINGLE = /^[A-Za-z][a-z]*\d{0,2}$/;

/**
 * Returns whether the member names may be people's names. This is the case if all values have the same types and, in
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
