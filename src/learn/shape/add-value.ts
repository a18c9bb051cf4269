import { isFieldName } from '../../privacy/client-text.ts';
import { personalName } from '../../privacy/personal-text.ts';
import { emptyObjects, emptyShape, type ObjectCounts, type Shape, SHAPE_LIMITS } from './shape.ts';
import { textForm } from './text-form.ts';

/** What adding values needs beside the shape. */
export interface Adding {
  /** The number of this answer; counts it once for each place. */
  readonly answer: number;
  /** False where the caller chose the fields, so that absence says nothing. */
  readonly complete: boolean;
  /** How many more shapes may be remembered. */
  readonly budget: { left: number; dropped: number };
  /** Epoch milliseconds. */
  readonly now: number;
  /** Remembers the value of a personal field for as long as the process runs, so that names can be told from fields. */
  readonly remember: (text: string) => void;
  /** True for a name that is, or was, the value of a personal field. */
  readonly isPersonal: (text: string) => boolean;
}

const INT32 = 2 ** 31;
const EARLIEST = Date.UTC(1990);
const LATEST = Date.UTC(2100);

/** Adds one value to what is known of its place. */
export function addValue(shape: Shape, value: unknown, adding: Adding, depth = 0): void {
  shape.seen += 1;
  shape.firstSeenAt ||= adding.now;
  shape.lastSeenAt = adding.now;
  if (shape.mark !== adding.answer) {
    shape.mark = adding.answer;
    shape.answers += 1;
  }
  if (value === null) shape.nulls += 1;
  else if (typeof value === 'boolean') shape.booleans += 1;
  else if (typeof value === 'number') addNumber(shape, value);
  else if (typeof value === 'string') addText(shape, value);
  else if (Array.isArray(value)) addArray(shape, value, adding, depth);
  else if (typeof value === 'object') addObject(shape, value as Readonly<Record<string, unknown>>, adding, depth);
}

function addNumber(shape: Shape, value: number): void {
  // What 64 bits cannot hold is a number and no integer of a contract.
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

function addArray(shape: Shape, value: readonly unknown[], adding: Adding, depth: number): void {
  const counts = (shape.arrays ??= { seen: 0, items: emptyShape() });
  counts.seen += 1;
  if (depth >= SHAPE_LIMITS.depth || value.length > SHAPE_LIMITS.elements) counts.items.cut = true;
  if (counts.items.cut) return;
  for (const element of value) addValue(counts.items, element, adding, depth + 1);
}

function addObject(shape: Shape, value: Readonly<Record<string, unknown>>, adding: Adding, depth: number): void {
  const counts = (shape.objects ??= emptyObjects());
  if (adding.complete) countObject(counts, adding);
  for (const [name, member] of Object.entries(value)) addMember(counts, name, member, adding, depth);
}

/** Counts one complete object. */
export function countObject(counts: ObjectCounts, { answer }: Adding): void {
  counts.seen += 1;
  if (counts.mark !== answer) counts.answers += 1;
  counts.mark = answer;
}

/** Adds one member of an object, by its name, or without it where the name may be somebody's. */
export function addMember(counts: ObjectCounts, name: string, value: unknown, adding: Adding, depth: number): void {
  if (typeof value === 'string' && personalName(name) !== undefined) adding.remember(value);
  const known = counts.fields.get(name);
  if (known === undefined && (counts.map || !isFieldName(name) || adding.isPersonal(name))) {
    counts.nameless += 1;
    return addBelow((counts.rest ??= emptyShape()), value, adding, depth);
  }
  if (known !== undefined) {
    if (adding.complete) known.present += 1;
    return addBelow(known.shape, value, adding, depth);
  }
  if (counts.fields.size >= SHAPE_LIMITS.names) {
    counts.map = true;
    counts.nameless += 1;
    return addBelow((counts.rest ??= emptyShape()), value, adding, depth);
  }
  if (adding.budget.left <= 0) {
    adding.budget.dropped += 1;
    return;
  }
  adding.budget.left -= 1;
  const field = { present: adding.complete ? 1 : 0, shape: emptyShape() };
  counts.fields.set(name, field);
  addBelow(field.shape, value, adding, depth);
}

function addBelow(shape: Shape, value: unknown, adding: Adding, depth: number): void {
  const nests = typeof value === 'object' && value !== null;
  if (nests && depth + 1 >= SHAPE_LIMITS.depth) shape.cut = true;
  if (shape.cut) {
    shape.seen += 1;
    return;
  }
  addValue(shape, value, adding, depth + 1);
}
