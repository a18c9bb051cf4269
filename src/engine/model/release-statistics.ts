/**
 * What the legacy server's responses to one operation had in common under one release. It contains counts only, and no
 * values from messages.
 */
export interface ReleaseStatistics {
  readonly operation: string;
  readonly release: string;
  /**
   * The counts, by name:
   * - `status 404 error`: responses with this status and, for an error, this form of body;
   * - `ms 23`: successful responses in this class of durations (`durationClass`);
   * - `object /list/{}`: sampled responses with at least one object at this place;
   * - `field /list/{}/title`: those of them in which at least one of these objects had this field.
   */
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * The release label if none is configured. Responses with this label are not compared with those of other releases,
 * because they can come from several releases.
 */
export const UNLABELLED = 'unlabelled';

/** The number of releases whose statistics are stored. The statistics of the least recently seen one are removed. */
export const STORED_RELEASES = 6;

/** The number of duration classes per doubling of the duration. */
const CLASSES_PER_DOUBLING = 4;
/** The shortest duration that is distinguished, in milliseconds. */
const SHORTEST_MS = 0.25;
/** The last class contains all durations of more than about two minutes. */
const LAST_CLASS = 76;

/** Returns the class of a duration in seconds. Four classes cover a doubling of the duration. */
export function durationClass(seconds: number): number {
  const doublings = Math.log2((seconds * 1000) / SHORTEST_MS);
  return Math.min(LAST_CLASS, Math.max(0, Math.floor(doublings * CLASSES_PER_DOUBLING)));
}

/** Returns the shortest duration of a class in milliseconds. */
export function shortestOf(index: number): number {
  return index <= 0 ? 0 : SHORTEST_MS * 2 ** (index / CLASSES_PER_DOUBLING);
}

/** The fields that a response has, and the places of its objects. Places are JSON pointers with `*` for indices. */
export interface FieldPresence {
  readonly objects: ReadonlySet<string>;
  readonly fields: ReadonlySet<string>;
}
