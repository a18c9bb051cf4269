/** What an event is about. Its events have the order in which they were found. */
export interface Target {
  readonly type: string;
  readonly id: string;
}

/** An event before it is stored. */
export interface NewEvent {
  /** The operation in whose list it was found, which also decides who may receive it, or the name of another source. */
  readonly source: string;
  /** What happened, such as `book.created`. */
  readonly kind: string;
  readonly target: Target;
  /** A short text for people. Undefined if there is none. */
  readonly title: string | undefined;
  /** The item, as JSON text, without private and personal fields. */
  readonly data: string;
}

/** A stored event. */
export interface FeedEvent extends NewEvent {
  /** Grows with each event of the store. */
  readonly number: number;
  /** When it was stored, in epoch milliseconds. */
  readonly at: number;
}

/** The source of the events about violations and levels. No caller may use an operation of this name. */
export const OWN_SOURCE = 'portico';

/** Returns the names by which `kindFilter` selects the events of a kind. */
export const selectorsOf = (first: string, events: readonly string[]): readonly string[] => [
  first,
  `${first}.*`,
  ...events.map((event) => `${first}.${event}`),
];

/** The names that select the events of Portico itself, which only webhooks receive. */
export const OWN_KINDS: readonly string[] = [
  ...selectorsOf('violation', ['new', 'several']),
  ...selectorsOf('level', ['lowered']),
];

/** The longest title, in characters. */
const MAX_TITLE = 200;

/** The longest data, in characters. Longer items are replaced by their identity. */
const MAX_DATA = 65_536;

/** Returns a text on one line, without control characters and not too long, or undefined if it is not a text. */
export function titleOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const line = value
    .slice(0, 4 * MAX_TITLE)
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim();
  if (line === '') return undefined;
  return line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE - 1)}…` : line;
}

/** Returns the JSON text of an item. An item that is too long is replaced by a statement about it. */
export function dataOf(item: unknown, { type, id }: Target): string {
  const text = JSON.stringify(item);
  return text.length <= MAX_DATA ? text : JSON.stringify({ id, type, tooLong: true });
}

/** Returns the id of an event outside the store. `lineage` distinguishes it from those of an earlier, lost store. */
export const publicId = (lineage: string, number: number): string => `${lineage}.${number}`;

/** Reads the id of an event. Returns undefined if it is none. */
export function readPublicId(text: string): { readonly lineage: string; readonly number: number } | undefined {
  const [, lineage, digits] = /^([0-9a-f]{8})\.(\d{1,15})$/.exec(text) ?? [];
  return lineage === undefined ? undefined : { lineage, number: Number(digits) };
}

/** Returns an event in the form in which subscribers receive it. */
export function eventJson(lineage: string, event: FeedEvent): string {
  const { number, at, source, kind, target, data } = event;
  const head = { id: publicId(lineage, number), time: new Date(at).toISOString(), kind, list: source, target };
  // The data is JSON already.
  return `${JSON.stringify(head).slice(0, -1)},"data":${data}}`;
}

/** Returns a function that tells whether a kind is one of those that somebody wants. None at all stands for every kind. */
export function kindFilter(wanted: readonly string[]): (kind: string) => boolean {
  if (wanted.length === 0) return () => true;
  const exact = new Set(wanted);
  return (kind) => {
    const [first = ''] = kind.split('.', 1);
    return exact.has(kind) || exact.has(first) || exact.has(`${first}.*`);
  };
}
