import { isFieldName } from '../../privacy/client-text.ts';
import { personalName } from '../../privacy/personal-text.ts';
import { emptyObjects, emptyShape, type ObjectCounts, type Shape, SHAPE_LIMITS } from './shape.ts';
import { textForm } from './text-form.ts';

/** The context in which values are added to shapes. */
export interface SampleContext {
  /** The number of this response. It ensures that each place counts the response only once. */
  readonly responseNumber: number;
  /** False if the caller selected the fields. Missing fields are then ignored. */
  readonly complete: boolean;
  /** The number of shapes that can still be stored, and the number of shapes that were not stored. */
  readonly budget: { left: number; dropped: number };
  /** Epoch milliseconds. */
  readonly now: number;
  /**
   * Remembers the value of a personal field while the process runs, so that people's names are recognized when they
   * occur as field names.
   */
  readonly remember: (text: string) => void;
  /** Returns whether a name was the value of a personal field. */
  readonly isPersonal: (text: string) => boolean;
}

const INT32 = 2 ** 31;
const EARLIEST = Date.UTC(1990);
const LATEST = Date.UTC(2100);

/** Adds one value to the shape of its place. */
export function addValue(shape: Shape, value: unknown, context: SampleContext, depth = 0): void {
  shape.seen += 1;
  shape.firstSeenAt ||= context.now;
  shape.lastSeenAt = context.now;
  if (shape.mark !== context.responseNumber) {
    shape.mark = context.responseNumber;
    shape.answers += 1;
  }
  if (value === null) shape.nulls += 1;
  else if (typeof value === 'boolean') shape.booleans += 1;
  else if (typeof value === 'number') addNumber(shape, value);
  else if (typeof value === 'string') addText(shape, value);
  else if (Array.isArray(value)) addArray(shape, value, context, depth);
  else if (typeof value === 'object') addObject(shape, value as Readonly<Record<string, unknown>>, context, depth);
}

function addNumber(shape: Shape, value: number): void {
  // Larger numbers do not fit in 64-bit integers, so a contract cannot describe them as integers.
  if (!Number.isInteger(value) || Math.abs(value) > 2 ** 63) {
    shape.fractions += 1;
    return;
  }
  const counts = (shape.integers ??= { seen: 0, wide: 0, negative: 0, instants: 0 });
  counts.seen += 1;
  if (value >= INT32 || value < -INT32) counts.wide += 1;
  if (value < 0) counts.negative += 1;
  if (value >= EARLIEST && value < LATEST) counts.instants += 1;
}

function addText(shape: Shape, value: string): void {
  const counts = (shape.texts ??= { seen: 0, forms: {} });
  counts.seen += 1;
  const form = textForm(value);
  counts.forms[form] = (counts.forms[form] ?? 0) + 1;
}

function addArray(shape: Shape, value: readonly unknown[], context: SampleContext, depth: number): void {
  const counts = (shape.arrays ??= { seen: 0, items: emptyShape() });
  counts.seen += 1;
  if (depth >= SHAPE_LIMITS.depth || value.length > SHAPE_LIMITS.elements) counts.items.cut = true;
  if (counts.items.cut) return;
  for (const element of value) addValue(counts.items, element, context, depth + 1);
}

function addObject(
  shape: Shape,
  value: Readonly<Record<string, unknown>>,
  context: SampleContext,
  depth: number,
): void {
  const counts = (shape.objects ??= emptyObjects());
  if (context.complete) countObject(counts, context);
  for (const [name, member] of Object.entries(value)) addMember(counts, name, member, context, depth);
}

/** Counts one complete object. */
export function countObject(counts: ObjectCounts, { responseNumber }: SampleContext): void {
  counts.seen += 1;
  if (counts.mark !== responseNumber) counts.answers += 1;
  counts.mark = responseNumber;
}

/** Adds one member of an object. Its name is not stored if it may be personal. */
export function addMember(
  counts: ObjectCounts,
  name: string,
  value: unknown,
  context: SampleContext,
  depth: number,
): void {
  if (typeof value === 'string' && personalName(name) !== undefined) context.remember(value);
  const known = counts.fields.get(name);
  if (known === undefined && (counts.map || !isFieldName(name) || context.isPersonal(name))) {
    counts.nameless += 1;
    return addBelow((counts.rest ??= emptyShape()), value, context, depth);
  }
  if (known !== undefined) {
    if (context.complete) known.present += 1;
    return addBelow(known.shape, value, context, depth);
  }
  if (counts.fields.size >= SHAPE_LIMITS.names) {
    counts.map = true;
    counts.nameless += 1;
    return addBelow((counts.rest ??= emptyShape()), value, context, depth);
  }
  if (context.budget.left <= 0) {
    context.budget.dropped += 1;
    return;
  }
  context.budget.left -= 1;
  const field = { present: context.complete ? 1 : 0, shape: emptyShape() };
  counts.fields.set(name, field);
  addBelow(field.shape, value, context, depth);
}

function addBelow(shape: Shape, value: unknown, context: SampleContext, depth: number): void {
  const nests = typeof value === 'object' && value !== null;
  if (nests && depth + 1 >= SHAPE_LIMITS.depth) shape.cut = true;
  if (shape.cut) {
    shape.seen += 1;
    return;
  }
  addValue(shape, value, context, depth + 1);
}
