import type { ObjectCounts, Shape } from '../shape/shape.ts';

/** How often a word was seen. */
export interface WordCounts {
  seen: number;
  answers: number;
  mark: number;
}

/** The texts of a field that has a closed vocabulary. */
export interface Vocabulary {
  seen: number;
  answers: number;
  mark: number;
  firstSeenAt: number;
  lastSeenAt: number;
  /** Texts that are no plain words, that were too many, or that were too seldom to be told. */
  other: number;
  /** Texts seen since one was new, and the answers that began since then. */
  quiet: number;
  quietAnswers: number;
  readonly words: Map<string, WordCounts>;
}

/** What was seen of an object that the contract describes, beyond what it says. */
export interface Described {
  /** Undocumented members; `seen` counts all complete objects. */
  readonly objects: ObjectCounts;
  /** Required members that were missing, by the JSONPath of the schema that requires them and their name. */
  readonly missing: Map<string, Shape>;
}

/** What became of asked and unasked page sizes of one operation. */
export interface PageSizes {
  /** The largest size that a page was asked in and really had. */
  honoured: number;
  /** Full pages of the size that was asked for, whichever it was. */
  honouredAnswers: number;
  /** The largest size that was asked for and that a page says it has, full or with all items that there are. */
  accepted: number;
  /** The smallest size that a first page was refused with, and how often that was. */
  refused: number;
  refusedAnswers: number;
  /** Pages smaller than asked although there is more, by their size. */
  readonly clamped: Map<number, number>;
  /** Sizes that answers name when none was asked for. */
  readonly unasked: Map<number, number>;
  firstSeenAt: number;
  lastSeenAt: number;
}

/** Whether answers with a switch (`wrap`, `v1`) have the shape of those without. */
export interface SwitchCounts {
  same: number;
  different: number;
  firstSeenAt: number;
  lastSeenAt: number;
}

/** What was seen of a path that the contract does not have. */
export interface PathCounts {
  seen: number;
  readonly statuses: Map<number, number>;
  /** Bodies of successes, where they could be read; passthrough streams them unread. */
  body: Shape | undefined;
  firstSeenAt: number;
  lastSeenAt: number;
}

/** Everything that was learned: shapes, counts and forms, by place; never a value. */
export interface Observations {
  /** Epoch milliseconds. */
  sinceAt: number;
  untilAt: number;
  answers: number;
  /** What was left out because a limit was reached. */
  dropped: number;
  /** Places that the contract leaves open, by their JSONPath in it. */
  readonly open: Map<string, Shape>;
  readonly described: Map<string, Described>;
  readonly vocabularies: Map<string, Vocabulary>;
  /** Values of another type than the contract says, by the JSONPath of the field. */
  readonly mistyped: Map<string, Shape>;
  /** Successes that are another thing than the contract says, by the JSONPath of the schema of the answer. */
  readonly envelopes: Map<string, Shape>;
  readonly pages: Map<string, PageSizes>;
  /** By switch and operation: `wrap listQuestions`. */
  readonly switches: Map<string, SwitchCounts>;
  /** By method and template: `GET /services/v2/question/{id}.json`. */
  readonly paths: Map<string, PathCounts>;
}

/** Observations of nothing yet. */
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
