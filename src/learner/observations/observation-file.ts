import { readFileSync, statSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { fileReason } from '../../lib/file-reason.ts';
import { IN_MEMORY, replaceFile, replaceFileSync } from '../../lib/replace-file.ts';
import { emptyObjects, emptyShape, type ObjectCounts, type Shape } from '../shape/shape.ts';
import { isTextForm, type TextForm } from '../shape/text-form.ts';
import {
  emptyObservations,
  type Observations,
  type DescribedObjects,
  emptyPageSizes,
  emptyVocabulary,
  type Vocabulary,
} from './observations.ts';
import { schemaMessage } from '../../lib/schema-message.ts';
import { StartFault } from '../../engine/model/fault.ts';

/** The configuration key that names the observations file, as reported in configuration errors. */
interface ObservationPlace {
  readonly source: string;
  readonly pointer: string;
}

/**
 * Reads an observations file. Returns empty observations if the file does not exist. Throws `StartFault` if the file is
 * invalid.
 */
export function readObservationFile(file: string, place: ObservationPlace, now: number): Observations {
  if (file === IN_MEMORY) return emptyObservations(now);
  const text = textOf(file, place);
  if (text === undefined) return emptyObservations(now);
  const read = readObservations(text);
  if ('problem' in read) throw broken(place, `${file} ${read.problem}`);
  return read.observations;
}

function textOf(file: string, place: ObservationPlace): string | undefined {
  try {
    if (statSync(file).size > MAX_OBSERVATIONS_BYTES)
      throw broken(place, `${file} has more than ${MAX_OBSERVATIONS_BYTES} bytes`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof StartFault) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw broken(place, `${file} cannot be read: ${fileReason(error)}`);
  }
}

function broken(place: ObservationPlace, message: string): StartFault {
  const suggestion = 'move the file away to start without observations';
  return new StartFault([{ ...place, message: `learn.file: ${message}`, suggestion }]);
}

/** Writes observations to a file in the background, so that requests never wait for the disk. */
interface ObservationWriter {
  /** Schedules a write within the next few seconds. */
  changed(): void;
  /** Writes all pending observations and stops the writer. */
  close(): void;
}

const PAUSE_MS = 5000;

/** Creates a writer that replaces the file atomically. If the process crashes, the previous file remains intact. */
export function createObservationWriter(
  file: string,
  observations: () => Observations,
  onFailure: (message: string) => void,
): ObservationWriter {
  if (file === IN_MEMORY) return { changed: () => undefined, close: () => undefined };
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const serialize = (): string | undefined => {
    const text = writeObservations(observations());
    if (text === undefined) onFailure(`the observations have more than ${MAX_OBSERVATIONS_BYTES} bytes`);
    return text;
  };
  const failed = (error: unknown) => onFailure(fileReason(error));
  const write = async (): Promise<void> => {
    const text = serialize();
    // If the writer was closed in the meantime, it has already written newer observations.
    if (text !== undefined) await replaceFile(file, text, 0o600, () => !closed).catch(failed);
  };
  return {
    changed: () => {
      if (closed) return;
      timer ??= setTimeout(() => {
        void write().finally(() => {
          timer = undefined;
        });
      }, PAUSE_MS).unref();
    },
    close: () => {
      const waiting = timer !== undefined && !closed;
      closed = true;
      clearTimeout(timer);
      const text = waiting ? serialize() : undefined;
      if (text === undefined) return;
      try {
        replaceFileSync(file, text, 0o600);
      } catch (error) {
        failed(error);
      }
    },
  };
}

/** The maximum size, in bytes, of an observations file. */
export const MAX_OBSERVATIONS_BYTES = 1_048_576;

type Stored = Readonly<Record<string, unknown>>;

/** Parses the text of an observations file. If the text is invalid, returns a description of the first problem. */
export function readObservations(text: string): { observations: Observations } | { problem: string } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { problem: 'is not JSON' };
  }
  const validate = (validateStored ??= new Ajv2020(AJV_OPTIONS).compile(OBSERVATIONS_SCHEMA));
  if (!validate(json)) {
    // The validator stops at the first error.
    const problems = (validate.errors ?? []).map((error) => `${error.instancePath || 'it'} ${schemaMessage(error)}`);
    return { problem: `is not an observations file: ${problems.join(', ')}` };
  }
  return { observations: toObservations(json) };
}

/** The validator for observations files. It is compiled only once and reused by reloads. */
let validateStored: ValidateFunction<Stored> | undefined;
const AJV_OPTIONS = { strict: false, meta: false, validateSchema: false };

function toObservations(json: Stored): Observations {
  const { portico: _portico, version: _version, ...stored } = json;
  const empty = emptyObservations(0);
  return {
    ...empty,
    ...(stored as Partial<Observations>),
    open: mapOf(stored['open'], toShape),
    described: mapOf(stored['described'], ({ objects, missing }): DescribedObjects => ({
      objects: toObjects(objects as Stored | undefined),
      missing: mapOf(missing, toShape),
    })),
    vocabularies: mapOf(stored['vocabularies'], (one): Vocabulary => ({
      ...emptyVocabulary(),
      ...one,
      words: mapOf(one['words'], (word) => ({ seen: 0, answers: 0, mark: 0, ...word })),
    })),
    mistyped: mapOf(stored['mistyped'], toShape),
    broken: mapOf(stored['broken'], toShape),
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
    fields: mapOf(fields, ({ present, optional, shape }) => ({
      present: Number(present ?? 0),
      optional: optional === true,
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

/** Converts redacted observations to the text of a file. Returns undefined if the text would be too long. */
export function writeObservations(redacted: Observations): string | undefined {
  const text = `${JSON.stringify({ portico: 'observations', version: 1, ...redacted }, compact)}\n`;
  return Buffer.byteLength(text) > MAX_OBSERVATIONS_BYTES ? undefined : text;
}

/**
 * A replacer for `JSON.stringify`. It converts maps to objects, and omits zeros, empty maps and data that only the
 * running process needs.
 */
function compact(key: string, value: unknown): unknown {
  if (key === 'mark' || value === 0 || value === false) return undefined;
  if (!(value instanceof Map)) return value;
  return value.size === 0 ? undefined : Object.fromEntries(value);
}

const count = { type: 'integer', minimum: 0 };
const moment = { type: 'number', minimum: 0 };
const span = { firstSeenAt: moment, lastSeenAt: moment };
const shape = { $ref: '#/$defs/shape' };

const closed = (properties: object) => ({ type: 'object', additionalProperties: false, properties });
const recordOf = (additionalProperties: object) => ({ type: 'object', additionalProperties });

/** The JSON Schema of the observations file. Zeros and empty maps are omitted from the file. */
const OBSERVATIONS_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['portico', 'version'],
  properties: {
    portico: { const: 'observations' },
    version: { const: 1 },
    sinceAt: moment,
    untilAt: moment,
    answers: count,
    dropped: count,
    open: recordOf(shape),
    described: recordOf(closed({ objects: { $ref: '#/$defs/objects' }, missing: recordOf(shape) })),
    vocabularies: recordOf(
      closed({
        seen: count,
        answers: count,
        ...span,
        other: count,
        quiet: count,
        quietAnswers: count,
        words: {
          ...recordOf(closed({ seen: count, answers: count })),
          propertyNames: { pattern: '^[A-Za-z][A-Za-z_-]{0,31}$' },
        },
      }),
    ),
    mistyped: recordOf(shape),
    broken: recordOf(shape),
    envelopes: recordOf(shape),
    pages: recordOf(
      closed({
        honoured: count,
        honouredAnswers: count,
        accepted: count,
        refused: count,
        refusedAnswers: count,
        clamped: recordOf(count),
        unasked: recordOf(count),
        ...span,
      }),
    ),
    switches: recordOf(closed({ same: count, different: count, ...span })),
    paths: recordOf(closed({ seen: count, statuses: recordOf(count), body: shape, ...span })),
  },
  $defs: {
    objects: closed({
      seen: count,
      answers: count,
      fields: {
        ...recordOf(closed({ present: count, optional: { type: 'boolean' }, shape })),
        propertyNames: { pattern: '^[_$]?[A-Za-z][A-Za-z0-9_-]{0,39}$' },
      },
      nameless: count,
      rest: shape,
      rare: shape,
      map: { type: 'boolean' },
    }),
    shape: closed({
      seen: count,
      answers: count,
      ...span,
      nulls: count,
      booleans: count,
      fractions: count,
      integers: closed({ seen: count, wide: count, negative: count, instants: count }),
      texts: closed({ seen: count, forms: recordOf(count) }),
      arrays: closed({ seen: count, items: shape }),
      objects: { $ref: '#/$defs/objects' },
      cut: { type: 'boolean' },
    }),
  },
};
