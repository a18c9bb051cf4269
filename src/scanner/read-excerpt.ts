import * as layout from './table-layout.ts';

const WORDS_PER_EVENT = layout.EVENT_SIZE / 4;
const KIND = 2 ** layout.TAG_BITS - 1;

/** The views of the module's memory from which an excerpt is read. */
interface EventViews {
  readonly integers: Uint32Array;
  readonly numbers: Float64Array;
}

/** The body, to whose bytes the events refer by address. */
interface EventTexts {
  readonly body: Buffer;
  /** The address of the first byte of the body. */
  readonly start: number;
  /** `latin1` is faster, but can decode only ASCII. */
  readonly encoding: 'latin1' | 'utf8';
}

/**
 * Reads the excerpt that a scan has written: the body with only the members that the excerpt's paths name. If no path
 * leads into the elements of an array, the array has the right length but no elements.
 */
export function readExcerpt(
  { integers, numbers }: EventViews,
  { body, start, encoding }: EventTexts,
  names: readonly string[],
): unknown {
  let at = layout.EVENTS / 4;
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
        const text = body.toString(encoding, from, to);
        return kind === layout.EVENT_STRING ? text : (JSON.parse(text) as unknown);
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

/**
 * Reads the undocumented members that a scan has recorded: the body with only those members, each at its first place.
 * Returns undefined if a member is named `__proto__`, which cannot be set.
 */
export function readUndocumented(
  { integers }: EventViews,
  { body, start, encoding }: EventTexts,
  places: ReadonlyMap<number, readonly string[]>,
): { readonly body: unknown } | undefined {
  const root: { body: unknown } = { body: undefined };
  const count = integers[layout.RESULT_UNDOCUMENTED / 4] as number;
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

/** A place where a valid body is not as expected. */
export interface Departure {
  /** The names and indices that lead to the value. */
  readonly path: readonly (string | number)[];
  /** The string of an unexpected form. Undefined if an expected member is absent. */
  readonly text: string | undefined;
}

/** Reads the departures that a scan has recorded: for each place, the first one in the body. */
export function readDepartures(
  { integers }: Pick<EventViews, 'integers'>,
  { body, start, encoding }: EventTexts,
  places: ReadonlyMap<number, readonly string[]>,
): readonly Departure[] {
  return Array.from({ length: integers[layout.RESULT_DEPARTURES / 4] as number }, (_, index) => {
    const departure = (layout.DEPARTURES + index * layout.DEPARTURE_SIZE) / 4;
    const word = (offset: number) => integers[departure + offset / 4] as number;
    const from = word(layout.DEPARTURE_FROM);
    const text = from === 0 ? undefined : body.toString(encoding, from - start, word(layout.DEPARTURE_TO) - start);
    return { path: withIndices(places.get(word(layout.DEPARTURE_NODE)) ?? [], word, layout.DEPARTURE_INDICES), text };
  });
}

/** Replaces each `*` in a path with the index that a record contains for it. */
function withIndices(path: readonly string[], word: (offset: number) => number, indices: number): (string | number)[] {
  let level = 0;
  return path.map((step) => {
    if (step !== '*') return step;
    level += 1;
    return word(indices + (level - 1) * 4);
  });
}

/** Puts a value into a body and creates the objects and arrays that contain it. */
function put(root: { body: unknown }, steps: readonly (string | number)[], name: string, value: unknown): void {
  const keys = ['body', ...steps, name];
  let here = root as Record<string | number, unknown>;
  keys.forEach((key, index) => {
    const next = keys[index + 1];
    if (next === undefined) here[key] = value;
    else here = (here[key] ??= typeof next === 'number' ? [] : {}) as Record<string | number, unknown>;
  });
}
