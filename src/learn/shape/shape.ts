import type { TextForm } from './text-form.ts';

/** How often a member of objects was there. */
export interface FieldShape {
  /** Complete objects that had it; answers whose fields the caller chose are not counted. */
  present: number;
  readonly shape: Shape;
}

/** What texts at a place look like. */
export interface TextCounts {
  seen: number;
  readonly forms: Partial<Record<TextForm, number>>;
}

/** What whole numbers at a place look like. */
export interface IntegerCounts {
  seen: number;
  /** Beyond 32 bits. */
  wide: number;
  negative: number;
  /** Between 1990 and 2100 when read as epoch milliseconds. */
  instants: number;
}

/** What arrays at a place hold. */
export interface ArrayCounts {
  seen: number;
  readonly items: Shape;
}

/** What objects at a place hold. */
export interface ObjectCounts {
  /** Complete objects. */
  seen: number;
  /** Distinct answers that held them. */
  answers: number;
  /** The answer that was counted last. */
  mark: number;
  readonly fields: Map<string, FieldShape>;
  /** Members whose names are kept nowhere: they may be somebody's. */
  nameless: number;
  /** What these members hold; undefined while there are none. */
  rest: Shape | undefined;
  /** Members whose names were seen too seldom to be kept, in what was read from a file. */
  rare: Shape | undefined;
  /** True once there were too many names for a record: a map, whose keys are data. */
  map: boolean;
}

/** What was seen at one place of answers: types, counts and forms, never a value. */
export interface Shape {
  seen: number;
  /** Distinct answers. */
  answers: number;
  /** The answer that was counted last; tells whether this one counts anew. */
  mark: number;
  /** Epoch milliseconds; 0 while nothing was seen. */
  firstSeenAt: number;
  lastSeenAt: number;
  nulls: number;
  booleans: number;
  /** Numbers that are not whole. */
  fractions: number;
  integers: IntegerCounts | undefined;
  texts: TextCounts | undefined;
  arrays: ArrayCounts | undefined;
  objects: ObjectCounts | undefined;
  /** True where a limit was reached, so that nothing is said about what is below. */
  cut: boolean;
}

/** The limits of what is remembered. */
export const SHAPE_LIMITS = {
  depth: 8,
  /** Names of one object; beyond, it is a map. */
  names: 64,
  /** Elements of one array that are looked at. */
  elements: 2000,
  /** Shapes of all places together. */
  shapes: 3000,
} as const;

/** A shape of which nothing was seen yet. */
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

/** Objects of which nothing was seen yet. */
export function emptyObjects(): ObjectCounts {
  return { seen: 0, answers: 0, mark: 0, fields: new Map(), nameless: 0, rest: undefined, rare: undefined, map: false };
}

/** The kinds of values that a shape has seen, by the names of JSON Schema, sorted. */
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
