import { escapePointer, keysOf, pointerTo } from '../../lib/json-pointer.ts';
import type { Departure, Violation } from '../../model/violation.ts';
import type { ExpectedForm, FieldShape, KnownFields, ObjectShape } from './compile-field-shape.ts';
import { placesIn, type SchemaFiles } from '../generate/generate-schemas.ts';
import type { DescribeFound, SchemaPlace } from './schema-violation.ts';

/** An expectation in the contract that a response does not meet. */
export interface UnmetExpectation extends Pick<ExpectedForm, 'keyword' | 'schema'> {
  /** The JSON pointer to the object that contains or lacks the field. */
  readonly within: string;
  /** The JSON pointer to the field. */
  readonly at: string;
  /** The string that does not have the expected form. Undefined if an expected field is absent. */
  readonly text: string | undefined;
}

/** The maximum depth of the search. No documented value is nested this deeply. */
const MAX_DEPTH = 64;

const NONE: readonly UnmetExpectation[] = [];

/**
 * Returns the expectations that a value does not meet, at every level that the contract describes. If several items in
 * a list do not meet the same expectation, only the first such item is reported.
 */
export function findUnmetExpectations(shape: FieldShape, value: unknown): readonly UnmetExpectation[] {
  // Nearly all responses meet all expectations, so the first check is a faster one that does not record paths.
  if (shape === undefined || meetsAll(shape, value, 0)) return NONE;
  const found: Found = new Map();
  collect(found, shape, value, { path: [], place: '' });
  return inOrder(found);
}

/** Returns the unmet expectations for the departures (differences from the expected form) that a scan has found. */
export function unmetExpectationsAt(shape: FieldShape, departures: readonly Departure[]): readonly UnmetExpectation[] {
  if (departures.length === 0) return NONE;
  const found: Found = new Map();
  for (const { path, text } of departures) {
    let parent: FieldShape;
    let here = shape;
    for (const step of path) {
      parent = here;
      here = typeof step === 'number' ? here?.elements : here?.object?.inner.find(({ name }) => name === step)?.shape;
    }
    const name = path.at(-1);
    const schema = typeof name === 'string' ? parent?.object?.expected.get(name) : undefined;
    const where = { path, place: placeOf(path) };
    if (text !== undefined) reportForms(found, here, where, text);
    else if (schema !== undefined) report(found, where, { keyword: 'x-expected', schema, text });
  }
  return inOrder(found);
}

function meetsAll(shape: ObjectShape, value: unknown, depth: number): boolean {
  if (typeof value === 'string') {
    for (const { accepts } of shape.forms) if (!accepts(value)) return false;
    return true;
  }
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return true;
  if (Array.isArray(value)) {
    const { elements } = shape;
    if (elements !== undefined)
      for (const element of value as readonly unknown[]) if (!meetsAll(elements, element, depth + 1)) return false;
    return true;
  }
  const known = shape.object;
  if (known === undefined) return true;
  if (!isComplete(known, value)) return false;
  for (const { name, shape: below } of known.inner)
    if (!meetsAll(below, (value as Readonly<Record<string, unknown>>)[name], depth + 1)) return false;
  return true;
}

function isComplete({ expected }: KnownFields, value: object): boolean {
  for (const name of expected.keys()) if (!Object.hasOwn(value, name)) return false;
  return true;
}

/** The unmet expectations, keyed by keyword and by location without indices, so that each is reported only once. */
type Found = Map<string, UnmetExpectation>;

interface Where {
  /** The names and indices that lead to the location. */
  readonly path: Departure['path'];
  /** The path as a JSON pointer with `*` in place of each index. */
  readonly place: string;
}

const placeOf = (path: Departure['path']) =>
  path.map((step) => `/${typeof step === 'number' ? '*' : escapePointer(step)}`).join('');

function collect(found: Found, shape: ObjectShape, value: unknown, where: Where): void {
  if (typeof value === 'string') return reportForms(found, shape, where, value);
  const { path, place } = where;
  if (typeof value !== 'object' || value === null || path.length > MAX_DEPTH) return;
  if (Array.isArray(value)) {
    const { elements } = shape;
    const each = `${place}/*`;
    if (elements !== undefined)
      value.forEach((element, index) => collect(found, elements, element, { path: [...path, index], place: each }));
    return;
  }
  const known = shape.object;
  if (known === undefined) return;
  const members = value as Readonly<Record<string, unknown>>;
  const below = (name: string): Where => ({ path: [...path, name], place: `${place}/${escapePointer(name)}` });
  for (const [name, schema] of known.expected)
    if (!Object.hasOwn(members, name)) report(found, below(name), { keyword: 'x-expected', schema, text: undefined });
  for (const { name, shape: inner } of known.inner)
    if (Object.hasOwn(members, name)) collect(found, inner, members[name], below(name));
}

function reportForms(found: Found, shape: FieldShape, where: Where, text: string): void {
  for (const { accepts, keyword, schema } of shape?.forms ?? [])
    if (!accepts(text)) report(found, where, { keyword, schema, text });
}

function report(found: Found, { path, place }: Where, unmet: Pick<UnmetExpectation, 'keyword' | 'schema' | 'text'>) {
  const key = `${unmet.keyword} ${place}`;
  if (!found.has(key)) found.set(key, { ...unmet, within: pointerTo(path.slice(0, -1)), at: pointerTo(path) });
}

/** Returns the unmet expectations in a fixed order, regardless of the order in which they were found. */
const inOrder = (found: Found): readonly UnmetExpectation[] =>
  [...found].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, unmet]) => unmet);

/** Returns the advisory for an unmet expectation. */
export function expectationViolation(
  { at, keyword, schema, text }: UnmetExpectation,
  place: SchemaPlace,
  files: SchemaFiles,
  describe: DescribeFound,
): Violation {
  const schemaPath = (placesIn(files).get(schema) ?? '').replace('.projected.schema.json#', '.schema.json#');
  // The description of a value depends on the names of the fields that contain it, so the string is passed together
  // with those names.
  const message = keysOf(at).reduceRight<unknown>((inside, name) => ({ [name]: inside }), text);
  const found = text === undefined ? undefined : describe(message, at, keyword);
  return {
    ...place,
    category: 'advisory',
    at,
    keyword,
    schemaPath: `${schemaPath}/${keyword}`,
    message: `${at} ${sentence(keyword, schema[keyword])}`,
    ...(found !== undefined && { found }),
  };
}

function sentence(keyword: UnmetExpectation['keyword'], limit: unknown): string {
  if (keyword === 'x-expected') return 'is expected but absent';
  if (keyword === 'x-expected-enum') return `is expected to be one of ${(limit as readonly string[]).join(', ')}`;
  return 'is expected to have the documented form';
}
