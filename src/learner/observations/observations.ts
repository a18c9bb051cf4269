import {
  mergeShapes,
  type ObjectCounts,
  redactObjects,
  type RedactOptions,
  redactShape,
  type Shape,
} from '../shape/shape.ts';

/** How often a word occurred. */
interface WordCounts {
  seen: number;
  answers: number;
  mark: number;
}

/** The values of a field whose vocabulary is closed. */
export interface Vocabulary {
  seen: number;
  answers: number;
  mark: number;
  firstSeenAt: number;
  lastSeenAt: number;
  /**
   * The number of values that are not stored because they are not plain words, would exceed the limit on stored words,
   * or are too rare to be shown.
   */
  other: number;
  /** The number of values since the last new word. `quietAnswers` is the number of responses with these values. */
  quiet: number;
  quietAnswers: number;
  readonly words: Map<string, WordCounts>;
}

/** How objects differ from their description in the contract. */
export interface DescribedObjects {
  /** The undocumented members of the objects. `seen` is the number of complete objects. */
  readonly objects: ObjectCounts;
  /**
   * Required or expected members that were missing. The key consists of the member's name and the JSONPath of the
   * schema that lists it.
   */
  readonly missing: Map<string, Shape>;
}

/** The requested and returned page sizes of a single operation. */
export interface PageSizes {
  /** The largest requested size at which the server returned a full page. */
  honoured: number;
  /** The number of responses that contained a full page of the requested size. */
  honouredAnswers: number;
  /** The largest requested size confirmed by a full page or by a page that contained the entire list. */
  accepted: number;
  /** The smallest size at which a first page was refused. `refusedAnswers` is the number of refusals. */
  refused: number;
  refusedAnswers: number;
  /** The number of pages that were smaller than requested although the list continued, keyed by page size. */
  readonly clamped: Map<number, number>;
  /** For requests without a page size, the number of responses that reported each page size. */
  readonly unasked: Map<number, number>;
  firstSeenAt: number;
  lastSeenAt: number;
}

/**
 * How often a comparison of two responses showed that a switch (`wrap` or `v1`) changes the structure, and how often
 * it showed no change.
 */
export interface SwitchCounts {
  same: number;
  different: number;
  firstSeenAt: number;
  lastSeenAt: number;
}

/** The counts of requests for an undocumented path. */
export interface PathCounts {
  seen: number;
  readonly statuses: Map<number, number>;
  /** The bodies of successful responses. Undefined if all of them were streamed. */
  body: Shape | undefined;
  firstSeenAt: number;
  lastSeenAt: number;
}

/** All observations made by sampling. They contain structures, counts and forms for each place, but no values. */
export interface Observations {
  /** When sampling began, in epoch milliseconds. */
  sinceAt: number;
  untilAt: number;
  answers: number;
  /** The number of values that were not counted because of a limit. */
  dropped: number;
  /** The places that the contract does not describe fully, keyed by their JSONPath in the contract. */
  readonly open: Map<string, Shape>;
  readonly described: Map<string, DescribedObjects>;
  readonly vocabularies: Map<string, Vocabulary>;
  /** Values whose type differs from the documented type, keyed by the JSONPath of the field. */
  readonly mistyped: Map<string, Shape>;
  /** Values that violate a keyword in the contract, keyed by the JSONPath of the schema and the keyword. */
  readonly broken: Map<string, Shape>;
  /** Successful responses whose envelope is undocumented, keyed by the JSONPath of the response's schema. */
  readonly envelopes: Map<string, Shape>;
  readonly pages: Map<string, PageSizes>;
  /** The effects of switches, keyed by switch and operation, for example `wrap listQuestions`. */
  readonly switches: Map<string, SwitchCounts>;
  /** The undocumented paths, keyed by method and template, for example `GET /services/v2/question/{id}.json`. */
  readonly paths: Map<string, PathCounts>;
}

/** Returns empty observations. `now` is in epoch milliseconds. */
export function emptyObservations(now: number): Observations {
  return {
    sinceAt: now,
    untilAt: now,
    answers: 0,
    dropped: 0,
    open: new Map(),
    described: new Map(),
    vocabularies: new Map(),
    mistyped: new Map(),
    broken: new Map(),
    envelopes: new Map(),
    pages: new Map(),
    switches: new Map(),
    paths: new Map(),
  };
}

/** Returns an empty vocabulary. */
export function emptyVocabulary(): Vocabulary {
  const counts = { seen: 0, answers: 0, mark: 0, other: 0, quiet: 0, quietAnswers: 0 };
  return { ...counts, firstSeenAt: 0, lastSeenAt: 0, words: new Map() };
}

/** Returns an empty record of page sizes. `now` is in epoch milliseconds. */
export function emptyPageSizes(now: number): PageSizes {
  const counts = { honoured: 0, honouredAnswers: 0, accepted: 0, refused: 0, refusedAnswers: 0 };
  return { ...counts, clamped: new Map(), unasked: new Map(), firstSeenAt: now, lastSeenAt: now };
}

/** Returns a copy that is safe to store, without names and words that are too rare or may be personal. */
export function redactObservations(all: Observations, options: RedactOptions): Observations {
  return {
    ...all,
    open: mapValues(all.open, (shape) => redactShape(shape, options)),
    described: mapValues(all.described, ({ objects, missing }) => ({
      objects: redactObjects(objects, options),
      missing: new Map(missing),
    })),
    vocabularies: mapValues(all.vocabularies, (vocabulary) => redactVocabulary(vocabulary, options)),
    mistyped: mapValues(all.mistyped, (shape) => redactShape(shape, options)),
    broken: mapValues(all.broken, (shape) => redactShape(shape, options)),
    envelopes: mapValues(all.envelopes, (shape) => redactShape(shape, options)),
    paths: redactPaths(all.paths, options),
  };
}

function redactVocabulary(vocabulary: Vocabulary, { minResponses, isPersonal }: RedactOptions): Vocabulary {
  const words: Vocabulary['words'] = new Map();
  let { other } = vocabulary;
  for (const [word, counts] of vocabulary.words) {
    if (counts.answers < minResponses || isPersonal(word)) other += counts.seen;
    else words.set(word, { ...counts, mark: 0 });
  }
  return { ...vocabulary, mark: 0, other, words };
}

function mapValues<T>(map: ReadonlyMap<string, T>, change: (value: T) => T): Map<string, T> {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}

/**
 * Replaces a path segment with `{name}` if it is too rare or may be personal, and merges paths that become identical.
 */
function redactPaths(paths: ReadonlyMap<string, PathCounts>, options: RedactOptions): Map<string, PathCounts> {
  const redacted = new Map<string, PathCounts>();
  for (const [key, counts] of paths) {
    const template = redactKey(
      key,
      (word) => counts.seen >= options.minResponses && !options.isPersonal(word),
      options,
    );
    const body = counts.body && redactShape(counts.body, options);
    const other = redacted.get(template);
    redacted.set(
      template,
      other === undefined ? { ...counts, statuses: new Map(counts.statuses), body } : merge(other, { ...counts, body }),
    );
  }
  return redacted;
}

function redactKey(key: string, isTrusted: (word: string) => boolean, { isKnownWord }: RedactOptions): string {
  const [method = '', template = ''] = key.split(' ', 2);
  const ending = template.endsWith('.json') ? '.json' : '';
  const segments = template.slice(0, template.length - ending.length).split('/');
  const redacted = segments.map((word) =>
    word === '' || word.startsWith('{') || isKnownWord(word) || isTrusted(word) ? word : '{name}',
  );
  return `${method} ${redacted.join('/')}${ending}`;
}

function merge(a: PathCounts, b: PathCounts): PathCounts {
  const statuses = new Map(a.statuses);
  for (const [status, count] of b.statuses) statuses.set(status, (statuses.get(status) ?? 0) + count);
  return {
    seen: a.seen + b.seen,
    statuses,
    body: a.body === undefined && b.body === undefined ? undefined : mergeShapes(a.body, b.body),
    firstSeenAt: Math.min(a.firstSeenAt, b.firstSeenAt),
    lastSeenAt: Math.max(a.lastSeenAt, b.lastSeenAt),
  };
}

/** Counts the shapes in observations so that their total number can be limited. */
export function countShapes({ open, described, mistyped, broken, envelopes, paths }: Observations): number {
  const shapes = [
    ...open.values(),
    ...mistyped.values(),
    ...broken.values(),
    ...envelopes.values(),
    ...[...paths.values()].flatMap(({ body }) => body ?? []),
  ];
  const counts = [...described.values()].map(({ objects, missing }) => countMembers(objects) + missing.size);
  return shapes.length + sum(shapes.map(countBelow)) + sum(counts);
}

function countBelow({ arrays, objects }: Shape): number {
  return (arrays === undefined ? 0 : countBelow(arrays.items)) + (objects === undefined ? 0 : countMembers(objects));
}

function countMembers({ fields, rest, rare }: ObjectCounts): number {
  const others = [rest, rare].flatMap((shape) => shape ?? []);
  return fields.size + sum([...fields.values()].map(({ shape }) => countBelow(shape))) + sum(others.map(countBelow));
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
