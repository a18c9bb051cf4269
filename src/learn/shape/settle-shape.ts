import { mergeShapes } from './merge-shapes.ts';
import { emptyObjects, kindsOf, type ObjectCounts, type Shape } from './shape.ts';

/** Which names of unknown fields are told. */
export interface Settling {
  /** Distinct answers below which the name of a field is told to nobody. */
  readonly minAnswers: number;
  readonly isPersonal: (text: string) => boolean;
  /** True for a name that the contract has for some field: it is nobody's. */
  readonly isDocumented: (name: string) => boolean;
  /** True for a word of addresses that is known without having been seen. */
  readonly isKnownWord: (word: string) => boolean;
}

const MAP_NAMES = 12;
const MAP_PRESENCE = 0.3;
const MAP_SHARE = 0.25;
const ALWAYS = 0.9;

/** A copy that may be written down: names that may be somebody's, and names seen too seldom, are not in it. */
export function settleShape(shape: Shape, settling: Settling, name = ''): Shape {
  return {
    ...shape,
    mark: 0,
    ...(shape.arrays && {
      arrays: { seen: shape.arrays.seen, items: settleShape(shape.arrays.items, settling, name) },
    }),
    ...(shape.objects && { objects: settleObjects(shape.objects, settling, name) }),
  };
}

/** The same for the members of objects; without a name for objects that the contract describes, which are no maps. */
export function settleObjects(counts: ObjectCounts, settling: Settling, holder?: string): ObjectCounts {
  const settled = emptyObjects();
  settled.seen = counts.seen;
  settled.answers = counts.answers;
  settled.nameless = counts.nameless;
  settled.map = counts.map || isMap(counts) || (holder !== undefined && readsLikeMap(counts, holder, settling));
  settled.rest = counts.rest && settleShape(counts.rest, settling);
  settled.rare = counts.rare && settleShape(counts.rare, settling);
  const members = counts.nameless + [...counts.fields.values()].reduce((sum, { shape }) => sum + shape.seen, 0);
  // In an object that the contract describes, members that are always there are fields, whatever stands beside them.
  const manyNameless = holder !== undefined && counts.nameless >= members * MAP_SHARE;
  for (const [name, field] of counts.fields) {
    const shape = settleShape(field.shape, settling, name);
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

/** Names of fields that hold something for each of many: `votesBy`, `perUser`, `reactionMap`. */
const HOLDER = /^by[A-Z_]|By(?:[A-Z]|$)|_by$|^per[A-Z_]|Map$|_map$/;

/** Names of fields that hold people: `codeReviewers`. */
const PEOPLE =
  /(?:user|voter|member|author|name|follower|assignee|reviewer|approver|watcher|owner|editor|reader|moderator|participant|contributor|contact|friend|colleague|employee)s$|people$|staff$/i;

/** A single word: `alice` as much as `size`. */
const SINGLE = /^[A-Za-z][a-z]*\d{0,2}$/;

/**
 * Single words of which none is always there, or below a name that says so, all with members of one kind: they may be
 * names of people, and a map of that kind says nothing wrong about fields either.
 */
function readsLikeMap({ fields, seen }: ObjectCounts, holder: string, { isDocumented }: Settling): boolean {
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

const DEPTH = 4;
const ELEMENTS = 200;

/** The shape of a value as one text: names and types, elements of an array together; for comparing two answers, never kept. */
export function shapeSignature(value: unknown, depth = 0): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) {
    const kinds = new Set(value.slice(0, ELEMENTS).map((element) => shapeSignature(element, depth + 1)));
    return `[${[...kinds].toSorted().join('|')}]`;
  }
  if (typeof value !== 'object') return typeof value;
  if (depth >= DEPTH) return '{}';
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${shapeSignature(member, depth + 1)}`,
  );
  return `{${members.toSorted().join(',')}}`;
}
