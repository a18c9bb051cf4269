import { boundedMemo } from '../../lib/bounded-maps.ts';
import type { Departure, ScannedDifferences } from '../model/violation.ts';
import * as layout from './table-layout.ts';

const WORDS_PER_EVENT = layout.EVENT_SIZE / 4;
const KIND = 2 ** layout.TAG_BITS - 1;

/** The views of the module's memory that are used to read an excerpt. */
interface EventViews {
  readonly integers: Uint32Array;
  readonly numbers: Float64Array;
}

/** The scanned body, to which the addresses in events refer. */
interface EventTexts {
  readonly body: Buffer;
  /** The address of the first byte of the body. */
  readonly start: number;
  /** `latin1` is faster, but decodes only ASCII correctly. */
  readonly encoding: 'latin1' | 'utf8';
}

/**
 * Reads the excerpt that a scan has written: the body, reduced to the members on the excerpt's paths. An array whose
 * elements are not on any path has the correct length but no elements.
 */
export function readExcerpt(
  { integers, numbers }: EventViews,
  { body, start, encoding }: EventTexts,
  names: readonly string[],
): unknown {
  let at = layout.EVENTS / 4;
  const previous = { from: 0, to: 0, text: '' };
  const read = (): unknown => {
    const kind = (integers[at] as number) & KIND;
    const event = at;
    at += WORDS_PER_EVENT;
    switch (kind) {
      case layout.EVENT_OBJECT: {
        const object: Record<string, unknown> = {};
        for (;;) {
          const tag = integers[at] as number;
          if ((tag & KIND) === layout.EVENT_END) break;
          object[names[tag >>> layout.TAG_BITS] as string] = read();
        }
        at += WORDS_PER_EVENT;
        return object;
      }
      case layout.EVENT_ARRAY: {
        const array: unknown[] = [];
        while (((integers[at] as number) & KIND) !== layout.EVENT_END) array.push(read());
        at += WORDS_PER_EVENT;
        return array;
      }
      case layout.EVENT_NUMBER:
        return numbers[(event + layout.EVENT_VALUE / 4) >>> 1];
      case layout.EVENT_STRING:
      case layout.EVENT_JSON: {
        const from = (integers[event + layout.EVENT_TEXT / 4] as number) - start;
        const to = (integers[event + layout.EVENT_VALUE / 4] as number) - start;
        if (kind === layout.EVENT_JSON) return JSON.parse(body.toString(encoding, from, to)) as unknown;
        // The items of a list often have the same value, such as the same type. Comparing a few bytes is faster than
        // creating another string, whose hash would also have to be computed again.
        if (!isRepeated(body, previous, from, to)) {
          previous.from = from;
          previous.to = to;
          previous.text = body.toString(encoding, from, to);
        }
        return previous.text;
      }
      case layout.EVENT_COUNT:
        return Array.from({ length: numbers[(event + layout.EVENT_VALUE / 4) >>> 1] as number });
      case layout.EVENT_TRUE:
        return true;
      case layout.EVENT_FALSE:
        return false;
      default:
        return null;
    }
  };
  return read();
}

/** The maximum length, in bytes, of strings that are compared with the previous one. */
const MAX_COMPARED = 32;

/** Returns whether two ranges of a body contain the same bytes. Returns false for long ranges. */
function isRepeated(body: Buffer, previous: { readonly from: number; readonly to: number }, from: number, to: number) {
  const length = to - from;
  if (length > MAX_COMPARED || length !== previous.to - previous.from) return false;
  for (let offset = 0; offset < length; offset += 1)
    if (body[from + offset] !== body[previous.from + offset]) return false;
  return true;
}

/** The paths of the objects, members and strings that a scan's records refer to. */
interface RecordedPlaces {
  /** The paths of objects, keyed by the address of their table. */
  readonly places: ReadonlyMap<number, readonly string[]>;
  /** The paths of expected members and of strings with an expected form, keyed by the address of their node. */
  readonly expectations: ReadonlyMap<number, readonly string[]>;
}

const NONE: ScannedDifferences = { undocumented: undefined, departures: [] };

/** The maximum number of results to remember, and the maximum length of their keys. */
const MAX_REMEMBERED = 64;
const MAX_KEY = 2000;

/**
 * Creates a function that reads the differences that a scan has recorded. The function returns undefined if an
 * undocumented member is named `__proto__`, because a member with this name cannot be set.
 *
 * A server usually sends the same undocumented members with every response. In that case, the function returns the same
 * object each time, so that callers can recognize it.
 */
export function createReadDifferences(
  recorded: RecordedPlaces,
): (views: Pick<EventViews, 'integers'>, texts: EventTexts) => ScannedDifferences | undefined {
  const remembered = boundedMemo<string, ScannedDifferences | undefined, DifferenceRecords>(
    MAX_REMEMBERED,
    (_key, records) => readRecords(records),
  );
  return ({ integers }, texts) => {
    const members = integers[layout.RESULT_UNDOCUMENTED / 4] as number;
    const departures = integers[layout.RESULT_DEPARTURES / 4] as number;
    if (members + departures === 0) return NONE;
    const records = { ...recorded, integers, texts, members, departures };
    const key = keyOf(records);
    return key.length > MAX_KEY ? readRecords(records) : remembered(key, records);
  };
}

/** The differences that a scan has recorded. */
interface DifferenceRecords extends Pick<EventViews, 'integers'>, RecordedPlaces {
  readonly texts: EventTexts;
  /** The number of undocumented members. */
  readonly members: number;
  readonly departures: number;
}

/**
 * Returns a string that represents the differences in a body. Two bodies have the same string only if their reported
 * differences are the same.
 */
function keyOf({ integers, texts: { body, start }, members, departures, places, expectations }: DifferenceRecords) {
  let key = '';
  for (let index = 0; index < members; index += 1) {
    const at = (layout.MEMBERS + index * layout.MEMBER_SIZE) / 4;
    const table = integers[at + layout.MEMBER_TABLE / 4] as number;
    const indices = indicesOf(integers, places.get(table), at + layout.MEMBER_INDICES / 4);
    const name = (integers[at + layout.MEMBER_NAME / 4] as number) - start;
    const nameEnd = name + (integers[at + layout.MEMBER_NAME_LENGTH / 4] as number);
    const value = (integers[at + layout.MEMBER_VALUE / 4] as number) - start;
    const valueEnd = (integers[at + layout.MEMBER_VALUE_END / 4] as number) - start;
    // Reports contain only the type and size of a value, so all integers are treated as equal. A quotation mark ends
    // each name, because it cannot occur in a name.
    key += isInteger(body, value, valueEnd)
      ? `\n${table}${indices} ${body.toString('latin1', name, nameEnd)}"`
      : `\n${table}${indices} ${body.toString('latin1', name, valueEnd)}`;
    if (key.length > MAX_KEY) return key;
  }
  for (let index = 0; index < departures; index += 1) {
    const at = (layout.DEPARTURES + index * layout.DEPARTURE_SIZE) / 4;
    const node = integers[at + layout.DEPARTURE_NODE / 4] as number;
    const from = integers[at + layout.DEPARTURE_FROM / 4] as number;
    const to = integers[at + layout.DEPARTURE_TO / 4] as number;
    const text = from === 0 ? '' : `"${body.toString('latin1', from - start, to - start)}"`;
    key += `\n!${node}${indicesOf(integers, expectations.get(node), at + layout.DEPARTURE_INDICES / 4)}${text}`;
    if (key.length > MAX_KEY) return key;
  }
  return key;
}

/** Returns the array indices that a record stores for a path. */
function indicesOf(integers: Uint32Array, path: readonly string[] | undefined, at: number): string {
  let text = '';
  let level = 0;
  if (path !== undefined)
    for (const step of path)
      if (step === '*') {
        text += ` ${integers[at + level]}`;
        level += 1;
      }
  return text;
}

/** The maximum length, in bytes, of integers that do not have to be parsed. Longer ones could overflow to infinity. */
const MAX_DIGITS = 16;

/** Returns whether the bytes of a JSON value represent an integer, without a fraction or an exponent. */
function isInteger(body: Buffer, from: number, to: number): boolean {
  if (to - from > MAX_DIGITS) return false;
  for (let at = body[from] === MINUS ? from + 1 : from; at < to; at += 1) {
    const byte = body[at] as number;
    if (byte < ZERO || byte > NINE) return false;
  }
  return true;
}

const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

function readRecords({ integers, texts, members, departures, places, expectations }: DifferenceRecords) {
  const undocumented = readUndocumented(integers, texts, members, places);
  if (undocumented === undefined) return undefined;
  return { undocumented: undocumented.body, departures: readDepartures(integers, texts, departures, expectations) };
}

function readUndocumented(
  integers: Uint32Array,
  { body, start, encoding }: EventTexts,
  count: number,
  places: RecordedPlaces['places'],
): { readonly body: unknown } | undefined {
  const root: { body: unknown } = { body: undefined };
  for (let index = 0; index < count; index += 1) {
    const member = (layout.MEMBERS + index * layout.MEMBER_SIZE) / 4;
    const word = (offset: number) => integers[member + offset / 4] as number;
    const place = places.get(word(layout.MEMBER_TABLE));
    // The contract allows undocumented members in this object.
    if (place === undefined) continue;
    const nameAt = word(layout.MEMBER_NAME) - start;
    const name = body.toString(encoding, nameAt, nameAt + word(layout.MEMBER_NAME_LENGTH));
    if (name === '__proto__') return undefined;
    const text = body.toString(encoding, word(layout.MEMBER_VALUE) - start, word(layout.MEMBER_VALUE_END) - start);
    put(root, withIndices(place, word, layout.MEMBER_INDICES), name, JSON.parse(text));
  }
  return root;
}

function readDepartures(
  integers: Uint32Array,
  { body, start, encoding }: EventTexts,
  count: number,
  expectations: RecordedPlaces['expectations'],
): readonly Departure[] {
  return Array.from({ length: count }, (_, index) => {
    const departure = (layout.DEPARTURES + index * layout.DEPARTURE_SIZE) / 4;
    const word = (offset: number) => integers[departure + offset / 4] as number;
    const from = word(layout.DEPARTURE_FROM);
    const text = from === 0 ? undefined : body.toString(encoding, from - start, word(layout.DEPARTURE_TO) - start);
    const place = expectations.get(word(layout.DEPARTURE_NODE)) ?? [];
    return { path: withIndices(place, word, layout.DEPARTURE_INDICES), text };
  });
}

/** Replaces each `*` in a path with the corresponding index from a record. */
function withIndices(path: readonly string[], word: (offset: number) => number, indices: number): (string | number)[] {
  let level = 0;
  return path.map((step) => {
    if (step !== '*') return step;
    level += 1;
    return word(indices + (level - 1) * 4);
  });
}

/** Inserts a value into a body, and creates the enclosing objects and arrays if necessary. */
function put(root: { body: unknown }, steps: readonly (string | number)[], name: string, value: unknown): void {
  const keys = ['body', ...steps, name];
  let here = root as Record<string | number, unknown>;
  keys.forEach((key, index) => {
    const next = keys[index + 1];
    if (next === undefined) here[key] = value;
    else here = (here[key] ??= typeof next === 'number' ? [] : {}) as Record<string | number, unknown>;
  });
}
