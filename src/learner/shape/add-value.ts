import { isFieldName } from '../../engine/privacy/shown-name.ts';
import { below, type DistinctFacts, hashOf, itemOf, type Whereabouts } from './distinct-facts.ts';
import { personalName } from '../../engine/privacy/personal-text.ts';
import { emptyObjects, emptyShape, type ObjectCounts, type Shape, SHAPE_LIMITS } from './shape.ts';
import { textForm } from './text-form.ts';

/** The information that is needed to add values to shapes. */
export interface SampleContext extends DistinctFacts {
  /** The number of this response, which ensures that each place counts the response only once. */
  readonly responseNumber: number;
  /** False if the caller selected the fields, in which case missing fields are ignored. */
  readonly complete: boolean;
  /** How many more shapes can be stored, and how many were dropped. */
  readonly budget: { left: number; dropped: number };
  /** How many more undocumented members can be sampled in this response. */
  readonly members: { left: number };
  /** The current time in epoch milliseconds. */
  readonly now: number;
  /**
   * Remembers the value of a personal field for as long as the process runs, so that a person's name is recognized even
   * when it occurs as a field name.
   */
  readonly remember: (text: string) => void;
  /** Returns whether a name was the value of a personal field. */
  readonly isPersonal: (text: string) => boolean;
}

const INT32 = 2 ** 31;
const EARLIEST = Date.UTC(1990);
const LATEST = Date.UTC(2100);

/**
 * Adds a value to the shape of the place where it was found. Values of the same kind are counted only once per item, no
 * matter how often the server returns the item.
 */
export function addValue(shape: Shape, value: unknown, where: Whereabouts, context: SampleContext, depth = 0): void {
  shape.firstSeenAt ||= context.now;
  shape.lastSeenAt = context.now;
  const at = { place: where.place, item: itemOf(value, where.item) };
  // `isNew` sometimes mistakes a new fact for a known one. The first value of each kind is therefore always counted,
  // because an overlay must accept every sampled value.
  if (context.isNew(factOf(value), at) || !hasKind(shape, value)) {
    shape.seen += 1;
    if (shape.mark !== context.responseNumber) shape.answers += 1;
    shape.mark = context.responseNumber;
    countKind(shape, value);
  }
  if (Array.isArray(value)) addElements(shape, value, at, context, depth);
  else if (typeof value === 'object' && value !== null)
    addObject((shape.objects ??= emptyObjects()), value as Readonly<Record<string, unknown>>, at, context, depth);
}

/** Returns a string that identifies everything that {@link countKind} counts about a value. */
function factOf(value: unknown): string {
  if (typeof value === 'string') return `text ${textForm(value)}`;
  if (typeof value !== 'number') return kindOf(value);
  const { wide, negative, instant } = rangesOf(value);
  return isInteger(value) ? `integer ${wide} ${negative} ${instant}` : 'fraction';
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Returns whether {@link countKind} has already counted a value of the same kind. */
function hasKind({ nulls, booleans, fractions, integers, texts, arrays }: Shape, value: unknown): boolean {
  if (value === null) return nulls > 0;
  if (typeof value === 'boolean') return booleans > 0;
  if (typeof value === 'string') return texts?.forms[textForm(value)] !== undefined;
  if (typeof value !== 'number') return !Array.isArray(value) || arrays !== undefined;
  if (!isInteger(value)) return fractions > 0;
  if (integers === undefined) return false;
  const { wide, negative, instant } = rangesOf(value);
  const counted = (isInside: boolean, count: number) => (isInside ? count : integers.seen - count) > 0;
  return counted(wide, integers.wide) && counted(negative, integers.negative) && counted(instant, integers.instants);
}

function countKind(shape: Shape, value: unknown): void {
  if (value === null) shape.nulls += 1;
  else if (typeof value === 'boolean') shape.booleans += 1;
  else if (typeof value === 'number') countNumber(shape, value);
  else if (typeof value === 'string') countText(shape, value);
  else if (Array.isArray(value)) (shape.arrays ??= { seen: 0, items: emptyShape() }).seen += 1;
}

// Numbers beyond 2^63 do not fit into 64 bits, so a contract cannot describe them as integers.
const isInteger = (value: number) => Number.isInteger(value) && Math.abs(value) <= 2 ** 63;

const rangesOf = (value: number) => ({
  wide: value >= INT32 || value < -INT32,
  negative: value < 0,
  instant: value >= EARLIEST && value < LATEST,
});

function countNumber(shape: Shape, value: number): void {
  if (!isInteger(value)) {
    shape.fractions += 1;
    return;
  }
  const counts = (shape.integers ??= { seen: 0, wide: 0, negative: 0, instants: 0 });
  const { wide, negative, instant } = rangesOf(value);
  counts.seen += 1;
  if (wide) counts.wide += 1;
  if (negative) counts.negative += 1;
  if (instant) counts.instants += 1;
}

function countText(shape: Shape, value: string): void {
  const counts = (shape.texts ??= { seen: 0, forms: {} });
  counts.seen += 1;
  const form = textForm(value);
  counts.forms[form] = (counts.forms[form] ?? 0) + 1;
}

function addElements(
  shape: Shape,
  value: readonly unknown[],
  at: Whereabouts,
  context: SampleContext,
  depth: number,
): void {
  const { items } = (shape.arrays ??= { seen: 0, items: emptyShape() });
  if (depth >= SHAPE_LIMITS.depth || value.length > SHAPE_LIMITS.elements) items.cut = true;
  if (items.cut) return;
  const { place, item } = below(at, '[]');
  value.forEach((element, index) =>
    addValue(items, element, { place, item: hashOf(String(index), item) }, context, depth + 1),
  );
}

function addObject(
  counts: ObjectCounts,
  value: Readonly<Record<string, unknown>>,
  at: Whereabouts,
  context: SampleContext,
  depth: number,
): void {
  const isNew = context.complete && countObject(counts, value, at, context);
  for (const [name, member] of Object.entries(value)) addMember(counts, name, member, { at, isNew, depth }, context);
}

/** Counts a complete object unless it has been counted before. Returns true if this call has counted it. */
export function countObject(
  counts: ObjectCounts,
  value: Readonly<Record<string, unknown>>,
  at: Whereabouts,
  { responseNumber, isNew }: SampleContext,
): boolean {
  if (!isNew('complete', at)) {
    // The object may have had different members when it was counted.
    for (const [name, field] of counts.fields) field.optional ||= !Object.hasOwn(value, name);
    return false;
  }
  counts.seen += 1;
  if (counts.mark !== responseNumber) counts.answers += 1;
  counts.mark = responseNumber;
  return true;
}

/** The object to which a member belongs. */
interface Holder {
  readonly at: Whereabouts;
  /** True if the object is complete and had not been counted before. */
  readonly isNew: boolean;
  readonly depth: number;
}

/** Adds one member of an object. The name of the member is not stored if it may be personal. */
export function addMember(
  counts: ObjectCounts,
  name: string,
  value: unknown,
  { at, isNew, depth }: Holder,
  context: SampleContext,
): void {
  if (context.members.left <= 0) return;
  context.members.left -= 1;
  if (typeof value === 'string' && personalName(name) !== undefined) context.remember(value);
  const known = counts.fields.get(name);
  const addNameless = () => {
    const { place, item } = below(at, '*');
    const key = { place, item: hashOf(name, item) };
    if (context.isNew('key', key)) counts.nameless += 1;
    addBelow((counts.rest ??= emptyShape()), value, key, context, depth);
  };
  if (known === undefined && (counts.map || !isFieldName(name) || context.isPersonal(name))) return addNameless();
  if (known !== undefined) {
    if (isNew) known.present += 1;
    return addBelow(known.shape, value, below(at, name), context, depth);
  }
  if (counts.fields.size >= SHAPE_LIMITS.names) {
    counts.map = true;
    return addNameless();
  }
  if (context.budget.left <= 0) {
    context.budget.dropped += 1;
    return;
  }
  context.budget.left -= 1;
  const field = { present: isNew ? 1 : 0, optional: false, shape: emptyShape() };
  counts.fields.set(name, field);
  addBelow(field.shape, value, below(at, name), context, depth);
}

function addBelow(shape: Shape, value: unknown, at: Whereabouts, context: SampleContext, depth: number): void {
  const nests = typeof value === 'object' && value !== null;
  if (nests && depth + 1 >= SHAPE_LIMITS.depth) shape.cut = true;
  if (!shape.cut) addValue(shape, value, at, context, depth + 1);
  else if (context.isNew('cut', at)) shape.seen += 1;
}
