import { alignByFacts, alignByKey, type Alignment, countMoved, type ItemFacts, runsOf } from './align.ts';
import { matchDates, readDate, type ToInstant } from './dates.ts';
import { canonicalNumber, idText, numberForm, typeOfValue, WrittenNumber } from './exact-values.ts';
import type { Identities } from './identities.ts';
import { ID, type Place } from './place.ts';
import {
  containsAddress,
  normalHtml,
  type ServerAddresses,
  splitAddress,
  splitHtml,
  splitSlug,
  type SplitText,
  textForm,
  withoutOwnAddress,
} from './texts.ts';

/** The ways in which two responses can differ. */
export type DifferenceKind =
  | 'leak'
  | 'permission'
  | 'status'
  | 'media-type'
  | 'body'
  | 'error'
  | 'type'
  | 'null'
  | 'missing'
  | 'extra'
  | 'missing-item'
  | 'extra-item'
  | 'other-item'
  | 'order'
  | 'count'
  | 'identity'
  | 'form'
  | 'address'
  | 'value';

/** The ways in which two responses can say the same thing differently. Each is counted under its name. */
export type Equivalence =
  | 'id as text or number'
  | 'paired id'
  | 'assumed id in a text'
  | 'alias'
  | 'number form'
  | 'date form'
  | 'date zone'
  | 'HTML form'
  | 'own address'
  | 'first page 0 or 1'
  | 'order of equal sort keys'
  | 'order by a live value'
  | 'order by a value that is not shown'
  | 'counts that follow from the items'
  | 'item at the edge of a page'
  | 'charset of JSON'
  | 'error form';

/** One of the two servers. */
export interface Side extends ServerAddresses {
  /** Converts times on the server's clock, for dates without a zone. */
  readonly clock: ToInstant;
  /** The name of the zone, only to tell whether two zones differ. */
  readonly zone: string;
}

/** What a comparison of two values needs to know, and where it reports what it finds. */
export interface ValueComparison {
  readonly old: Side;
  readonly new: Side;
  readonly ids: Identities;
  /** The name of the requested sort order. Undefined if the request names none. */
  readonly sort: string | undefined;
  /** True if the request is for the first page. */
  readonly isFirstPage: boolean;
  /** Takes how many pairs of values were compared at a place; one by default. */
  readonly compared: (place: Place, pairs?: number) => void;
  readonly differ: (kind: DifferenceKind, place: Place, old: unknown, next: unknown) => void;
  readonly same: (equivalence: Equivalence) => void;
  /** Takes an item that only one server has, at the edge of a page that does not show the whole list. */
  readonly atEdge: (edge: EdgeItem) => void;
  /** Takes a total that differs, in a list of which only a page is known. */
  readonly totals: (place: Place, old: number, next: number) => void;
  /** Takes a step that can be done later, if a comparison is done step by step. */
  readonly later?: ((step: () => void) => void) | undefined;
  /** The objects whose members are being compared. */
  inside?: ComparedObjects | undefined;
}

/** Two objects at the same place. */
export interface ComparedObjects {
  readonly place: Place;
  readonly a: Readonly<Record<string, unknown>>;
  readonly b: Readonly<Record<string, unknown>>;
}

/** An item that may be on another page of the other server. */
export interface EdgeItem {
  readonly place: Place;
  readonly side: 'old' | 'new';
  /** The id on its own server. */
  readonly id: string;
  readonly item: unknown;
  /**
   * True if the item cannot be judged by other pages: the list is sorted by values that change by themselves, so that
   * items move between pages, or the servers do not state the same page.
   */
  readonly isLive: boolean;
}

/** Compares two values that are at the same place in two responses. */
export function compareValues(to: ValueComparison, place: Place, a: unknown, b: unknown): void {
  const [typeA, typeB] = [typeOfValue(a), typeOfValue(b)];
  if (typeA === 'object' && typeB === 'object') return compareObjects(to, place, a as Members, b as Members);
  to.compared(place);
  if (typeA === 'array' && typeB === 'array')
    return void compareLists(to, place, a as readonly unknown[], b as readonly unknown[]);
  if (typeA === typeB) return compareScalars(to, place, a, b);
  if (typeA === 'null' || typeB === 'null') return to.differ('null', place, a, b);
  const isId = place.marks.identity !== undefined && isIdType(typeA) && isIdType(typeB);
  if (!isId) return to.differ('type', place, a, b);
  to.same('id as text or number');
  compareIds(to, place, a, b);
}

type Members = Readonly<Record<string, unknown>>;

const isIdType = (type: string) => type === 'number' || type === 'string';

function compareObjects(to: ValueComparison, place: Place, a: Members, b: Members): void {
  const outside = to.inside;
  to.inside = { place, a, b };
  compareMembers(to, place, a, b);
  to.inside = outside;
}

function compareMembers(to: ValueComparison, place: Place, a: Members, b: Members): void {
  const { listName } = place;
  // What has nothing in common is one difference, unless it contains what only some callers may see.
  const isCommon = (name: string) => Object.hasOwn(b, name) || Object.hasOwn(b, place.aliases.get(name) ?? name);
  const isOther = Object.keys(a).length > 0 && !Object.keys(a).some(isCommon);
  if (isOther && !Object.keys(b).some((name) => place.member(name).marks.isPrivate)) {
    to.compared(place);
    return to.differ('form', place, a, b);
  }
  // Another thing has other values, too.
  if (Object.hasOwn(a, ID) && Object.hasOwn(b, ID) && isOtherThing(to, place.member(ID), a[ID], b[ID])) return;
  const renamed = new Set<string>();
  let lists: ListResult | undefined;
  // The items come first, because counts can follow from them.
  if (listName !== undefined && Array.isArray(a[listName]) && Array.isArray(b[listName])) {
    const inner = place.member(listName);
    to.compared(inner);
    lists = compareLists(to, inner, a[listName] as unknown[], b[listName] as unknown[], { a, b, envelope: place });
  }
  for (const name of Object.keys(a)) {
    if (name === listName && lists !== undefined) continue;
    const inner = place.member(name);
    if (Object.hasOwn(b, name)) {
      const { counts } = inner.marks;
      // The number of the page says the same even if there is no list.
      if (counts === 'page' || (counts !== undefined && lists !== undefined))
        compareCounts(to, place, name, [a, b], lists ?? NO_LISTS);
      else compareValues(to, inner, a[name], b[name]);
      continue;
    }
    const alias = place.aliases.get(name);
    if (alias !== undefined && Object.hasOwn(b, alias) && !Object.hasOwn(a, alias)) {
      renamed.add(alias);
      to.same('alias');
      compareValues(to, inner, a[name], b[alias]);
      continue;
    }
    to.compared(inner);
    to.differ('missing', inner, a[name], undefined);
  }
  for (const name of Object.keys(b)) {
    if (Object.hasOwn(a, name) || renamed.has(name)) continue;
    const inner = place.member(name);
    to.compared(inner);
    // A field that only some callers may see is no ordinary addition.
    to.differ(inner.marks.isPrivate ? 'leak' : 'extra', inner, undefined, b[name]);
  }
}

/** Returns whether two ids refer to different things, and then reports it. */
function isOtherThing(to: ValueComparison, id: Place, a: unknown, b: unknown): boolean {
  if (id.marks.identity === undefined || !isIdValue(a) || !isIdValue(b)) return false;
  if (matchIds(to, id, a, b) !== 'broken') return false;
  to.compared(id);
  to.differ('identity', id, a, b);
  return true;
}

function compareCounts(
  to: ValueComparison,
  place: Place,
  name: string,
  [a, b]: readonly [Members, Members],
  lists: ListResult,
): void {
  const inner = place.member(name);
  const [x, y] = [a[name], b[name]];
  if (typeof x !== 'number' || typeof y !== 'number') return compareValues(to, inner, x, y);
  to.compared(inner);
  if (x === y) return;
  const pagesFollow = (of: Members) => {
    const [total, size] = [countedIn(place, of, 'total'), countedIn(place, of, 'size')];
    return total !== undefined && size !== undefined && size > 0 ? Math.max(1, Math.ceil(total / size)) : undefined;
  };
  const follows = () => to.same('counts that follow from the items');
  switch (inner.marks.counts) {
    case 'list':
      if (x === lists.lengthA && y === lists.lengthB) return follows();
      break;
    case 'total':
      if (x === lists.lengthA && y === lists.lengthB) return follows();
      return to.totals(inner, x, y);
    case 'pages':
      if (Math.max(1, x) === pagesFollow(a) && Math.max(1, y) === pagesFollow(b)) return follows();
      break;
    case 'page':
      if (isFirstPage(to, x, y)) return to.same('first page 0 or 1');
      break;
    case 'size':
    case undefined:
  }
  to.differ('count', inner, x, y);
}

/** Returns the number in an envelope that states something, such as `total`. */
export function countedIn(envelope: Place, body: Members, what: Place['marks']['counts']): number | undefined {
  const [, value] = Object.entries(body).find(([name]) => envelope.member(name).marks.counts === what) ?? [];
  return typeof value === 'number' ? value : undefined;
}

/** What counts are compared with. */
interface ListResult {
  readonly lengthA: number;
  readonly lengthB: number;
}

const NO_LISTS: ListResult = { lengthA: 0, lengthB: 0 };

/** The objects around a list. */
interface Around {
  readonly a: Members;
  readonly b: Members;
  readonly envelope: Place;
}

function compareLists(
  to: ValueComparison,
  place: Place,
  a: readonly unknown[],
  b: readonly unknown[],
  around?: Around,
): ListResult {
  const result = { lengthA: a.length, lengthB: b.length };
  const items = place.items();
  const isObjects = isObjectList(a) && isObjectList(b);
  const alignment = isObjects
    ? alignObjects(to, items, a as readonly Members[], b as readonly Members[])
    : alignScalars(to, items, a, b);
  for (const [x, y] of alignment.pairs) {
    const step = () => compareValues(to, items, a[x], b[y]);
    if (isObjects && to.later !== undefined) to.later(step);
    else if (isObjects || !isScalar(a[x])) step();
  }
  if (!isObjects) to.compared(items, alignment.pairs.length);
  const key = sortKey(to, place, around);
  const isHidden = key === 'hidden' || (key !== undefined && (!isShown(key, [a, b]) || isFiltered(key, a, to.old)));
  const shownKey = key === 'hidden' || isHidden ? undefined : key;
  const isElsewhere = statesOtherPage(to, around);
  const isPart = isElsewhere || (isIncomplete(around, a, b) && !isOtherPage(to, items, [a, b], around, shownKey));
  const part = { key: shownKey, isHidden, isElsewhere, margin: shiftOf(around) };
  reportOnly(to, items, alignment, [a, b], isPart ? part : undefined);
  compareOrder(to, place, alignment, [a, b], isHidden ? 'hidden' : shownKey);
  return result;
}

const isObjectList = (list: readonly unknown[]) => list.every((item) => typeOfValue(item) === 'object');
const isScalar = (value: unknown) => !['array', 'object'].includes(typeOfValue(value));

/** Returns whether a page shows only a part of the list, so that an item can be on another page. */
function isIncomplete(around: Around | undefined, a: readonly unknown[], b: readonly unknown[]): boolean {
  if (around === undefined) return false;
  const [totalA, totalB] = totalsOf(around);
  // A list without a total may have further items.
  return totalA === undefined || totalA > a.length || (totalB ?? 0) > b.length;
}

/**
 * Returns whether two pages cannot be the same part of one list, whatever the order of equal items: one of them is empty,
 * or both servers state the same total, but the pages have other lengths or other sort keys.
 */
function isOtherPage(
  to: ValueComparison,
  items: Place,
  [a, b]: readonly [readonly unknown[], readonly unknown[]],
  around: Around | undefined,
  key: SortKey | undefined,
): boolean {
  const [totalA, totalB] = totalsOf(around);
  if (totalA !== totalB) return false;
  if ((a.length === 0) !== (b.length === 0)) return true;
  if (totalA === undefined) return false;
  if (a.length !== b.length) return true;
  // A value that changes by itself is another one a moment later.
  if (key === undefined || items.member(key.name).marks.isVolatile) return false;
  // Their order is judged apart.
  const keysIn = (list: readonly unknown[], side: Side) =>
    list.map((item) => String(coarse(sortValue(item, key, side), key))).toSorted();
  const keysB = keysIn(b, to.new);
  return keysIn(a, to.old).some((one, at) => one !== keysB[at]);
}

/** Returns whether the servers state other pages or page sizes, which is a difference from which other items follow. */
function statesOtherPage(to: ValueComparison, around: Around | undefined): boolean {
  if (around === undefined) return false;
  const { a, b, envelope } = around;
  return Object.keys(a).some((name) => {
    const { counts } = envelope.member(name).marks;
    const [x, y] = [a[name], b[name]];
    if (typeof x !== 'number' || typeof y !== 'number' || x === y) return false;
    return counts === 'size' || (counts === 'page' && !isFirstPage(to, x, y));
  });
}

const isFirstPage = (to: ValueComparison, x: number, y: number) => to.isFirstPage && x + y === 1 && x * y === 0;

const totalsOf = (around: Around | undefined): readonly [number | undefined, number | undefined] =>
  around === undefined
    ? [undefined, undefined]
    : [countedIn(around.envelope, around.a, 'total'), countedIn(around.envelope, around.b, 'total')];

/** Returns by how many places the items of a page can be shifted, as far as the totals tell. */
function shiftOf(around: Around | undefined): number | undefined {
  const [a, b] = totalsOf(around);
  return a !== undefined && b !== undefined ? Math.abs(a - b) : undefined;
}

/** Returns a sort key without what some forms of dates do not state. */
const coarse = (value: number | string | undefined, { isDate }: SortKey) =>
  isDate && typeof value === 'number' ? Math.floor(value / 60_000) : value;

/** Returns the name of the member that identifies the items of a list, or undefined if there is none. */
function keyMember(lists: readonly (readonly Members[])[]): string | undefined {
  const isKey = (name: string) => lists.every((list) => list.every((item) => idText(item[name]) !== undefined));
  return isKey(ID) ? ID : undefined;
}

/** Returns the kind of an id. If it is that of things of several kinds, a member beside it names the kind. */
function kindOf({ marks: { identity } }: Place, item: Members | undefined): string | undefined {
  const [, name] = /^\{(\w+)\}$/.exec(identity ?? '') ?? [];
  return name === undefined ? identity : String(item?.[name]);
}

function alignObjects(to: ValueComparison, items: Place, a: readonly Members[], b: readonly Members[]): Alignment {
  const key = keyMember([a, b]);
  if (key === undefined) return alignWithoutIds(to, items, a, b);
  const spaceOf = (item: Members | undefined) => kindOf(items.member(key), item) ?? items.at;
  const keysB = b.map((item) => {
    const id = idText(item[key]) ?? '';
    // An id without a counterpart must not be taken for the same id on the old server.
    const other = to.ids.toOld(spaceOf(item), id) ?? `new ${id}`;
    return `${spaceOf(item)} ${other}`;
  });
  const aligned = alignByKey(
    a.map((item) => `${spaceOf(item)} ${idText(item[key]) ?? ''}`),
    keysB,
  );
  if (to.ids.mode !== 'learned' || aligned.onlyA.length === 0 || aligned.onlyB.length === 0) return aligned;
  const isUnknown = (at: number, list: readonly Members[], of: 'toNew' | 'toOld') =>
    to.ids[of](spaceOf(list[at]), idText(list[at]?.[key]) ?? '') === undefined;
  const [freeA, freeB] = [
    aligned.onlyA.filter((at) => isUnknown(at, a, 'toNew')),
    aligned.onlyB.filter((at) => isUnknown(at, b, 'toOld')),
  ];
  if (freeA.length === 0 || freeB.length === 0) return aligned;
  const [factsA, factsB] = [
    a.map((item) => factsOf(items, item, to.old)),
    b.map((item) => factsOf(items, item, to.new)),
  ];
  const found = alignByFacts(
    freeA.map((at) => [at, factsA[at] ?? new Map<string, string>()]),
    freeB.map((at) => [at, factsB[at] ?? new Map<string, string>()]),
    [factsA, factsB],
  );
  for (const [x, y] of found)
    to.ids.match(spaceOf(a[x]), idText(a[x]?.[key]) ?? '', idText(b[y]?.[key]) ?? '', items.member(key), true);
  return withPairs(aligned, found);
}

function withPairs({ pairs, onlyA, onlyB }: Alignment, more: readonly (readonly [number, number])[]): Alignment {
  const [doneA, doneB] = [new Set(more.map(([x]) => x)), new Set(more.map(([, y]) => y))];
  return {
    pairs: [...pairs, ...more].toSorted(([x], [y]) => x - y),
    onlyA: onlyA.filter((at) => !doneA.has(at)),
    onlyB: onlyB.filter((at) => !doneB.has(at)),
  };
}

/** Aligns items without ids: by everything that is equal in them, then by their places if the lengths are equal. */
function alignWithoutIds(to: ValueComparison, items: Place, a: readonly Members[], b: readonly Members[]): Alignment {
  const aligned = alignByKey(
    a.map((item) => JSON.stringify([...factsOf(items, item, to.old)])),
    b.map((item) => JSON.stringify([...factsOf(items, item, to.new)])),
  );
  const { onlyA, onlyB } = aligned;
  if (onlyA.length === onlyB.length)
    return withPairs(
      aligned,
      onlyA.map((x, at) => [x, onlyB[at] ?? -1]),
    );
  return withPairs(
    aligned,
    alignByFacts(
      onlyA.map((at) => [at, factsOf(items, a[at] ?? {}, to.old)]),
      onlyB.map((at) => [at, factsOf(items, b[at] ?? {}, to.new)]),
    ),
  );
}

/** Returns what is particular to an item and must be equal on both servers, in a form that is the same on both. */
export function factsOf(place: Place, item: Members, side: Side): ItemFacts {
  const facts = new Map<string, string>();
  for (const [name, value] of Object.entries(item)) {
    const inner = place.member(name);
    const { identity, isVolatile, text } = inner.marks;
    if (identity !== undefined || isVolatile) continue;
    if (typeof value === 'number' || value instanceof WrittenNumber) facts.set(name, canonicalNumber(value));
    if (typeof value === 'boolean') facts.set(name, String(value));
    if (typeof value !== 'string') continue;
    const date = text === 'date' || !inner.marks.isDescribed ? readDate(value) : undefined;
    // Dates are compared to the minute, because some forms state no seconds.
    if (date !== undefined)
      facts.set(name, String(Math.floor((date.hasZone ? date.at : side.clock(date.at)) / 60_000)));
    else if (text === 'html') facts.set(name, withoutIds(splitHtml(normalHtml(withoutOwnAddress(value, side)))));
    else if (text === 'address') facts.set(name, withoutIds(splitAddress(withoutOwnAddress(value, side))));
    else if (text === 'slug') facts.set(place.aliases.get(name) ?? name, withoutIds(splitSlug(value)));
    else facts.set(name, value);
  }
  return facts;
}

const withoutIds = (parts: SplitText): string => parts.filter((_, at) => at % 2 === 0).join('#');

/** Returns a text that is the same for two elements that mean the same. */
function scalarText(value: unknown, side: Side): string {
  if (value instanceof WrittenNumber || typeof value === 'number') return `number ${canonicalNumber(value)}`;
  if (typeof value !== 'string') return JSON.stringify(value);
  return `string ${withoutOwnAddress(value, side)}`;
}

function alignScalars(to: ValueComparison, items: Place, a: readonly unknown[], b: readonly unknown[]): Alignment {
  const space = items.marks.identity;
  if (space === undefined || !a.every(isIdValue) || !b.every(isIdValue))
    return alignByKey(
      a.map((value) => scalarText(value, to.old)),
      b.map((value) => scalarText(value, to.new)),
    );
  const [idsA, idsB] = [a.map((value) => idText(value) ?? ''), b.map((value) => idText(value) ?? '')];
  const aligned = alignByKey(
    idsA,
    idsB.map((id) => to.ids.toOld(space, id) ?? `new ${id}`),
  );
  if (new Set([...a, ...b].map((value) => typeof value === 'string')).size > 1) to.same('id as text or number');
  if (to.ids.mode !== 'learned') return aligned;
  const freeA = aligned.onlyA.filter((at) => to.ids.toNew(space, idsA[at] ?? '') === undefined);
  const freeB = aligned.onlyB.filter((at) => to.ids.toOld(space, idsB[at] ?? '') === undefined);
  // Nothing but the order relates the ids of things that were not seen yet.
  if (freeA.length !== freeB.length) return aligned;
  const found = freeA.map((x, at) => [x, freeB[at] ?? -1] as const);
  for (const [x, y] of found) to.ids.match(space, idsA[x] ?? '', idsB[y] ?? '', items);
  return withPairs(aligned, found);
}

const isIdValue = (value: unknown) => idText(value) !== undefined;

/** Returns the id of an item. */
export const ownId = (item: unknown): string | undefined =>
  typeOfValue(item) === 'object' ? idText((item as Members)[ID] ?? undefined) : undefined;
const isDigits = (id: string | undefined) => id !== undefined && /^\d+$/.test(id);

/**
 * Reports the items that only one server has. `part` is set if the lists are only pages: an item may then be on another
 * page if it is at the edge of its page, or if its sort key is that of an item at the edge.
 */
function reportOnly(
  to: ValueComparison,
  items: Place,
  { pairs, onlyA, onlyB }: Alignment,
  [a, b]: readonly [readonly unknown[], readonly unknown[]],
  part:
    | {
        readonly key: SortKey | undefined;
        readonly isHidden: boolean;
        readonly isElsewhere: boolean;
        readonly margin: number | undefined;
      }
    | undefined,
): void {
  if (onlyA.length === 0 && onlyB.length === 0) return;
  const isLive =
    part?.isElsewhere === true || (part?.key !== undefined && items.member(part.key.name).marks.isVolatile);
  const insideOf = (list: readonly unknown[], indices: readonly number[], side: Side) => {
    const [first, last] = [Math.min(...indices), Math.max(...indices)];
    const keyAt = (at: number) => (part?.key === undefined ? undefined : sortValue(list[at], part.key, side));
    const edges = new Set([keyAt(0), keyAt(list.length - 1)].filter((value) => value !== undefined));
    // Even if all that one list has more comes before this page, what is further inside must be on the other page, too.
    const { margin = list.length } = part ?? {};
    const isNearEnd = (at: number) => part?.key === undefined || at < margin || at >= list.length - margin;
    const nearEnds = new Set(
      list.flatMap((_, at) => (at <= margin || at >= list.length - 1 - margin ? (keyAt(at) ?? []) : [])),
    );
    return (at: number) => {
      const key = keyAt(at) ?? Number.NaN;
      return (at > first && at < last && !edges.has(key)) || (!isNearEnd(at) && !nearEnds.has(key));
    };
  };
  const inside = {
    old: insideOf(
      a,
      pairs.map(([x]) => x),
      to.old,
    ),
    new: insideOf(
      b,
      pairs.map(([, y]) => y),
      to.new,
    ),
  };
  const isCertain = (at: number, side: 'old' | 'new'): boolean => {
    const item = side === 'old' ? a[at] : b[at];
    const id = ownId(item);
    // Items whose sort keys nobody knows may be equal in them, and then any of them can be on another page.
    const isInside = !isLive && part?.isHidden === false && inside[side](at);
    // No page has an item whose id is unlike all others.
    const isOdd = id !== undefined && !isDigits(id) && (side === 'old' ? a : b).some((one) => isDigits(ownId(one)));
    if (part === undefined || id === undefined || isInside || isOdd) return true;
    to.atEdge({ place: items, side, id, item, isLive });
    return false;
  };
  const missing = onlyA.filter((at) => isCertain(at, 'old'));
  const extra = onlyB.filter((at) => isCertain(at, 'new'));
  to.compared(items, missing.length + extra.length);
  // Items instead of others are one fault, not two.
  if (missing.length > 0 && extra.length > 0)
    for (let at = 0; at < Math.max(missing.length, extra.length); at += 1)
      to.differ('other-item', items, a[missing[at] ?? -1], b[extra[at] ?? -1]);
  else {
    for (const at of missing) to.differ('missing-item', items, a[at], undefined);
    for (const at of extra) to.differ('extra-item', items, undefined, b[at]);
  }
}

/** Compares the order of the items that both lists have. Items with equal sort keys may stand in any order. */
function compareOrder(
  to: ValueComparison,
  place: Place,
  { pairs }: Alignment,
  [a, b]: readonly [readonly unknown[], readonly unknown[]],
  key: SortKey | 'hidden' | undefined,
): void {
  if (pairs.every(([, y], at) => at === 0 || (pairs[at - 1]?.[1] ?? -1) < y)) return;
  // Any order of equal keys is right, and only the servers know which are equal.
  if (key === 'hidden') return to.same('order by a value that is not shown');
  const valuesOf = (list: readonly unknown[], indices: readonly number[], side: Side) =>
    indices.map((at) => (key === undefined ? undefined : sortValue(list[at], key, side)));
  const orderB = pairs.map(([, y]) => y).toSorted((x, y) => x - y);
  const keysA = valuesOf(
    a,
    pairs.map(([x]) => x),
    to.old,
  );
  const runsA = runsOf(keysA.map((one) => one?.toString()));
  const keysB = valuesOf(b, orderB, to.new);
  const runs = runsOf(keysB.map((one) => one?.toString()));
  const runOfB = new Map(orderB.map((y, at) => [y, runs[at] ?? 0]));
  const ranks = pairs
    .map(([, y], at) => [runsA[at] ?? 0, runOfB.get(y) ?? 0] as const)
    .toSorted(([x, ranX], [y, ranY]) => x - y || ranX - ranY)
    .map(([, rank]) => rank);
  if (countMoved(ranks) === 0) return to.same('order of equal sort keys');
  const isLive = key !== undefined && place.items().member(key.name).marks.isVolatile;
  if (isLive && isSorted(keysA, key) && isSorted(keysB, key)) return to.same('order by a live value');
  to.differ('order', place, a.length, b.length);
}

interface SortKey {
  readonly name: string;
  readonly descends: boolean;
  readonly isDate: boolean;
}

/** Returns the key by which a list is sorted: `hidden` if the contract says that items do not show it. */
function sortKey(to: ValueComparison, place: Place, around: Around | undefined): SortKey | 'hidden' | undefined {
  const { sortKeys } = place.marks;
  if (sortKeys === undefined || around === undefined) return undefined;
  const stated = around.a['sort'];
  // The server states the order that it has applied, which may not be the requested one.
  const name = typeof stated === 'string' && stated !== '' ? stated : (to.sort ?? 'default');
  const key = Object.hasOwn(sortKeys, name) ? sortKeys[name] : undefined;
  if (key === undefined) return undefined;
  if (key === null) return 'hidden';
  const field = key.replace(/^-/, '');
  return { name: field, descends: key.startsWith('-'), isDate: place.items().member(field).marks.text === 'date' };
}

/** Returns whether any item shows the key. A projection may have removed it from all of them. */
const isShown = ({ name }: SortKey, lists: readonly (readonly unknown[])[]) =>
  lists.some((list) => list.some((item) => typeOfValue(item) === 'object' && Object.hasOwn(item as Members, name)));

/**
 * Returns whether the server sorts by the length of a list of which this caller sees only a part. Its own items are then
 * not in the order of what they show.
 */
const isFiltered = (key: SortKey, list: readonly unknown[], side: Side) =>
  list.some((item) => typeOfValue(item) === 'object' && Array.isArray((item as Members)[key.name])) &&
  !isSorted(
    list.map((item) => sortValue(item, key, side)),
    key,
  );

function sortValue(item: unknown, { name, isDate }: SortKey, { clock }: Side): number | string | undefined {
  if (typeOfValue(item) !== 'object') return undefined;
  const value = (item as Members)[name];
  if (typeof value === 'number') return value;
  if (value instanceof WrittenNumber) return Number(value.source);
  if (Array.isArray(value)) return value.length;
  if (typeof value !== 'string') return undefined;
  const date = isDate ? readDate(value) : undefined;
  return date === undefined ? value : date.hasZone ? date.at : clock(date.at);
}

function isSorted(values: readonly (number | string | undefined)[], { descends }: SortKey): boolean {
  return values.every((value, at) => {
    const before = values[at - 1];
    if (at === 0) return value !== undefined;
    if (value === undefined || before === undefined) return false;
    return descends ? before >= value : before <= value;
  });
}

function compareScalars(to: ValueComparison, place: Place, a: unknown, b: unknown): void {
  if (place.marks.identity !== undefined && isIdValue(a)) return compareIds(to, place, a, b);
  if (typeof a === 'string') return compareTexts(to, place, a, b as string);
  if (a === b) return;
  if (isNumber(a) && isNumber(b)) {
    if (canonicalNumber(a) === canonicalNumber(b)) {
      if (sourceOf(a) !== sourceOf(b)) to.same('number form');
      return;
    }
    return to.differ(numberForm(a) === numberForm(b) ? 'value' : 'form', place, a, b);
  }
  to.differ('value', place, a, b);
}

const isNumber = (value: unknown): value is number | WrittenNumber =>
  typeof value === 'number' || value instanceof WrittenNumber;
const sourceOf = (value: number | WrittenNumber) => (value instanceof WrittenNumber ? value.source : String(value));

function compareIds(to: ValueComparison, place: Place, a: unknown, b: unknown): void {
  const match = matchIds(to, place, a, b);
  if (match === 'broken') to.differ('identity', place, a, b);
  else if (match === 'paired') to.same('paired id');
}

const matchIds = (to: ValueComparison, place: Place, a: unknown, b: unknown) =>
  to.ids.match(kindOf(place, to.inside?.a) ?? '', idText(a) ?? '', idText(b) ?? '', place);

function compareTexts(to: ValueComparison, place: Place, a: string, b: string): void {
  // What the contract does not describe is taken for what it looks like.
  const text = place.marks.text ?? (place.marks.isDescribed ? undefined : apparentText(a, b));
  const mayHaveAddress = b.includes('/');
  // A client that follows such an address leaves the new server.
  if (mayHaveAddress && to.old.own[0] !== to.new.own[0] && leadsBack(to, b)) return to.differ('address', place, a, b);
  if (text === 'date') return compareDates(to, place, a, b);
  const isSplit = text === 'html' || text === 'address' || text === 'slug';
  if (a === b && (!isSplit || to.ids.mode === 'same')) return;
  const [localA, localB] = [withoutOwnAddress(a, to.old), withoutOwnAddress(b, to.new)];
  const forms = [localA, localB].map((one) => (text === 'html' && localA !== localB ? normalHtml(one) : one));
  const [formA = '', formB = ''] = forms;
  const match = matchSplit(to, place, ...splitBoth(text, formA, formB));
  if (match === 'different') return to.differ(formsDiffer(place, localA, localB) ? 'form' : 'value', place, a, b);
  if (match === 'broken') return to.differ('identity', place, a, b);
  if (match === 'paired') to.same('paired id');
  if (match === 'assumed') to.same('assumed id in a text');
  if (localA !== a || localB !== b) if (a !== b) to.same('own address');
  if (text === 'html' && localA !== localB && match === 'same') to.same('HTML form');
}

function apparentText(a: string, b: string): 'address' | 'date' | undefined {
  if (ADDRESS.test(a) && ADDRESS.test(b)) return 'address';
  return readDate(a) !== undefined && readDate(b) !== undefined ? 'date' : undefined;
}

const ADDRESS = /^(?:https?:\/)?\/[^\s]+$/;

const leadsBack = (to: ValueComparison, text: string) => containsAddress(withoutOwnAddress(text, to.new), to.old);

/** A value that changes by itself must keep its form, which no rule about noise hides. */
function formsDiffer(place: Place, a: string, b: string): boolean {
  const [formA, formB] = [textForm(a, false), textForm(b, false)];
  if (formA === formB) return false;
  return formA === 'empty' || formB === 'empty' || (place.marks.text === undefined && formA !== 'text');
}

function splitBoth(text: string | undefined, a: string, b: string): readonly [SplitText, SplitText] {
  if (text === 'html') return [splitHtml(a), splitHtml(b)];
  if (text === 'address') return [splitAddress(a), splitAddress(b)];
  if (text === 'slug') return [splitSlug(a), splitSlug(b)];
  return [[a], [b]];
}

/** Compares two texts piece by piece. The odd pieces are what may be ids. */
function matchSplit(
  { ids }: ValueComparison,
  place: Place,
  a: SplitText,
  b: SplitText,
): 'same' | 'paired' | 'assumed' | 'broken' | 'different' {
  if (a.length !== b.length || a.some((part, at) => at % 2 === 0 && part !== b[at])) return 'different';
  let found: 'same' | 'paired' | 'assumed' = 'same';
  for (let at = 1; at < a.length; at += 2) {
    const match = ids.matchAny(a[at] ?? '', b[at] ?? '', place, a[at - 1] ?? '');
    if (match === 'broken') return ids.mode === 'same' ? 'different' : 'broken';
    if (match === 'assumed' || (match === 'paired' && found === 'same')) found = match;
  }
  return found;
}

function compareDates(to: ValueComparison, place: Place, a: string, b: string): void {
  const [dateA, dateB] = [readDate(a), readDate(b)];
  if (dateA === undefined || dateB === undefined) {
    if (a === b) return;
    return to.differ(dateA === dateB ? 'value' : 'form', place, a, b);
  }
  if (a === b && to.old.zone === to.new.zone) return;
  if (dateA.hasTime !== dateB.hasTime) return to.differ('form', place, a, b);
  const match = matchDates([dateA, a, to.old.clock], [dateB, b, to.new.clock]);
  if (match === 'different') return to.differ('value', place, a, b);
  if (match !== 'same') to.same(match === 'form' ? 'date form' : 'date zone');
}
