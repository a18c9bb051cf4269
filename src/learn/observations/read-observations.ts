import { Ajv2020 } from 'ajv/dist/2020.js';
import { emptyVocabulary } from '../observe/add-word.ts';
import { emptyPageSizes } from '../observe/observe-pages.ts';
import { OBSERVATIONS_SCHEMA } from './observations-schema.ts';
import { type Described, emptyObservations, type Observations, type Vocabulary } from './observations.ts';
import { emptyObjects, emptyShape, type ObjectCounts, type Shape } from '../shape/shape.ts';
import { isTextForm, type TextForm } from '../shape/text-form.ts';

type Stored = Readonly<Record<string, unknown>>;

/** Reads the text of a file of observations, or says in words what is wrong with it. */
export function readObservations(text: string): { observations: Observations } | { problem: string } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { problem: 'is no JSON' };
  }
  const validate = new Ajv2020({ strict: false, meta: false, validateSchema: false }).compile(OBSERVATIONS_SCHEMA);
  if (!validate(json)) {
    const [error] = validate.errors ?? [];
    return { problem: `is no file of observations: ${error?.instancePath || 'it'} ${error?.message ?? 'is wrong'}` };
  }
  return { observations: toObservations(json) };
}

function toObservations(json: Stored): Observations {
  const { portico: _portico, version: _version, ...stored } = json;
  const empty = emptyObservations(0);
  return {
    ...empty,
    ...(stored as Partial<Observations>),
    open: mapOf(stored['open'], toShape),
    described: mapOf(stored['described'], ({ objects, missing }): Described => ({
      objects: toObjects(objects as Stored | undefined),
      missing: mapOf(missing, toShape),
    })),
    vocabularies: mapOf(stored['vocabularies'], (one): Vocabulary => ({
      ...emptyVocabulary(),
      ...one,
      words: mapOf(one['words'], (word) => ({ seen: 0, answers: 0, mark: 0, ...word })),
    })),
    mistyped: mapOf(stored['mistyped'], toShape),
    envelopes: mapOf(stored['envelopes'], toShape),
    pages: mapOf(stored['pages'], (one) => ({
      ...emptyPageSizes(0),
      ...one,
      clamped: sizes(one['clamped']),
      unasked: sizes(one['unasked']),
    })),
    switches: mapOf(stored['switches'], (one) => ({ same: 0, different: 0, firstSeenAt: 0, lastSeenAt: 0, ...one })),
    paths: mapOf(stored['paths'], (one) => ({
      seen: 0,
      firstSeenAt: 0,
      lastSeenAt: 0,
      ...one,
      statuses: sizes(one['statuses']),
      body: one['body'] === undefined ? undefined : toShape(one['body'] as Stored),
    })),
  };
}

function toShape(stored: Stored): Shape {
  const { integers, texts, arrays, objects, ...rest } = stored as Readonly<Record<string, Stored | undefined>>;
  return {
    ...emptyShape(),
    ...(rest as Partial<Shape>),
    integers: integers && { seen: 0, wide: 0, negative: 0, instants: 0, ...integers },
    texts: texts && { seen: Number(texts['seen'] ?? 0), forms: toForms(texts['forms'] as Stored | undefined) },
    arrays: arrays && { seen: Number(arrays['seen'] ?? 0), items: toShape((arrays['items'] ?? {}) as Stored) },
    objects: objects && toObjects(objects),
  };
}

function toObjects(stored: Stored = {}): ObjectCounts {
  const { fields, rest, rare, ...counts } = stored;
  return {
    ...emptyObjects(),
    ...(counts as Partial<ObjectCounts>),
    fields: mapOf(fields, ({ present, shape }) => ({
      present: Number(present ?? 0),
      shape: toShape((shape ?? {}) as Stored),
    })),
    rest: rest === undefined ? undefined : toShape(rest as Stored),
    rare: rare === undefined ? undefined : toShape(rare as Stored),
  };
}

function toForms(stored: Stored = {}): Partial<Record<TextForm, number>> {
  return Object.fromEntries(Object.entries(stored).filter(([form]) => isTextForm(form)));
}

function mapOf<T>(stored: unknown, to: (one: Stored) => T): Map<string, T> {
  return new Map(Object.entries((stored ?? {}) as Record<string, Stored>).map(([key, one]) => [key, to(one)]));
}

function sizes(stored: unknown): Map<number, number> {
  return new Map(
    Object.entries((stored ?? {}) as Record<string, number>).map(([size, count]) => [Number(size), count]),
  );
}
