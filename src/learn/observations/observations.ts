import type { ObjectCounts, Shape } from '../shape/shape.ts';

/** The occurrences of a word. */
interface WordCounts {
  seen: number;
  answers: number;
  mark: number;
}

/** The values of a field with a closed vocabulary. */
export interface Vocabulary {
  seen: number;
  answers: number;
  mark: number;
  firstSeenAt: number;
  lastSeenAt: number;
  /** Values that are not plain words, exceed the limit or are too rare to be shown. */
  other: number;
  /** Values since the last new word, and the responses that they were in. */
  quiet: number;
  quietAnswers: number;
  readonly words: Map<string, WordCounts>;
}

/** How objects that the contract describes differed from their description. */
export interface DescribedObjects {
  /** Undocumented members. `seen` counts all complete objects. */
  readonly objects: ObjectCounts;
  /** Missing required members, by the JSONPath of the schema that requires them and their name. */
  readonly missing: Map<string, Shape>;
}

/** The requested and returned page sizes of one operation. */
export interface PageSizes {
  /** The largest requested size that a page really had. */
  honoured: number;
  /** Number of full pages of the requested size, for any size. */
  honouredAnswers: number;
  /** The largest requested size that a response confirmed, with a full page or with all items of the list. */
  accepted: number;
  /** The smallest size for which a first page was refused, and the number of refusals. */
  refused: number;
  refusedAnswers: number;
  /** Pages that were smaller than requested although the list has more items, by their size. */
  readonly clamped: Map<number, number>;
  /** Sizes that responses state if the request did not specify one. */
  readonly unasked: Map<number, number>;
  firstSeenAt: number;
  lastSeenAt: number;
}

/** How often responses with a switch (`wrap`, `v1`) had the same shape as those without it, or a different one. */
export interface SwitchCounts {
  same: number;
  different: number;
  firstSeenAt: number;
  lastSeenAt: number;
}

/** The requests for an undocumented path. */
export interface PathCounts {
  seen: number;
  readonly statuses: Map<number, number>;
  /** The bodies of successful responses; undefined if only passthrough requests, whose bodies are streamed, were seen. */
  body: Shape | undefined;
  firstSeenAt: number;
  lastSeenAt: number;
}

/** Everything that sampling has learned: shapes, counts and forms by place, never values. */
export interface Observations {
  /** Epoch milliseconds. */
  sinceAt: number;
  untilAt: number;
  answers: number;
  /** Number of values that were not counted because a limit was reached. */
  dropped: number;
  /** Places that the contract leaves open, by their JSONPath in the contract. */
  readonly open: Map<string, Shape>;
  readonly described: Map<string, DescribedObjects>;
  readonly vocabularies: Map<string, Vocabulary>;
  /** Values of a different type than documented, by the JSONPath of the field. */
  readonly mistyped: Map<string, Shape>;
  /** Successful responses with a different envelope than documented, by the JSONPath of the response's schema. */
  readonly envelopes: Map<string, Shape>;
  readonly pages: Map<string, PageSizes>;
  /** By switch and operation: `wrap listQuestions`. */
  readonly switches: Map<string, SwitchCounts>;
  /** By method and template: `GET /services/v2/question/{id}.json`. */
  readonly paths: Map<string, PathCounts>;
}

/** Returns empty observations; `now` in epoch milliseconds. */
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
    envelopes: new Map(),
    pages: new Map(),
    switches: new Map(),
    paths: new Map(),
  };
}

/** Returns a vocabulary without words. */
export function emptyVocabulary(): Vocabulary {
  const counts = { seen: 0, answers: 0, mark: 0, other: 0, quiet: 0, quietAnswers: 0 };
  return { ...counts, firstSeenAt: 0, lastSeenAt: 0, words: new Map() };
}

/** Returns empty page sizes; `now` in epoch milliseconds. */
export function emptyPageSizes(now: number): PageSizes {
  const counts = { honoured: 0, honouredAnswers: 0, accepted: 0, refused: 0, refusedAnswers: 0 };
  return { ...counts, clamped: new Map(), unasked: new Map(), firstSeenAt: now, lastSeenAt: now };
}
