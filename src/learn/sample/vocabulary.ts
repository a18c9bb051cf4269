import { hashOf } from '../shape/distinct-facts.ts';
import type { SampleContext } from '../shape/add-value.ts';
import { isWord } from '../../privacy/client-text.ts';
import type { PlaceSchema } from '../place-schema.ts';
import { emptyVocabulary, type Vocabulary } from '../observations/observations.ts';

/** The names of documented fields whose values come from a closed set of words and are never personal. */
const NAMES = new Set(['nodeStates', 'verb', 'type', 'operations', 'status', 'executionStatus', 'sorts', 'visibility']);

/** The maximum number of stored words per place. */
const MAX_WORDS = 50;

/** Returns whether the values of a place come from a closed set of words. */
export function hasVocabulary({ personal, sites }: PlaceSchema, name: string): boolean {
  return NAMES.has(name) && !personal && sites.every(({ schema }) => schema['const'] === undefined);
}

/** Returns whether a value can be added to the vocabulary of a place. */
export function canHoldWord(placeSchema: PlaceSchema, name: string, value: unknown): boolean {
  return typeof value === 'string' && hasVocabulary(placeSchema, name) && isWord(value);
}

/**
 * Returns the path under which words are stored: the path of the schema that lists them, or of the place if there is
 * none.
 */
function vocabularyPath({ sites, written }: PlaceSchema): string {
  const listed = sites.find(({ schema }) => schema.enum !== undefined || schema['x-expected-enum'] !== undefined);
  return listed?.path ?? written.path;
}

/**
 * Counts a word once per `item`. A value that is not a plain word is counted but not stored. Items that were counted
 * before provide no new evidence about whether there are other words.
 */
export function addWord(
  places: Map<string, Vocabulary>,
  placeSchema: PlaceSchema,
  text: string,
  item: number,
  context: SampleContext,
): void {
  const path = vocabularyPath(placeSchema);
  const place = places.get(path) ?? emptyVocabulary();
  places.set(path, place);
  place.firstSeenAt ||= context.now;
  place.lastSeenAt = context.now;
  const known = place.words.get(text);
  const isOther = known === undefined && (!isWord(text) || place.words.size >= MAX_WORDS || context.isPersonal(text));
  if (!context.isNew(isOther ? 'other' : `word ${text}`, { place: hashOf(path), item })) return;
  place.seen += 1;
  place.quiet += 1;
  if (place.mark !== context.responseNumber) {
    place.answers += 1;
    place.quietAnswers += 1;
  }
  place.mark = context.responseNumber;
  if (isOther) {
    place.other += 1;
    return;
  }
  const word = known ?? { seen: 0, answers: 0, mark: 0 };
  if (known === undefined) place.quiet = place.quietAnswers = 0;
  word.seen += 1;
  if (word.mark !== context.responseNumber) word.answers += 1;
  word.mark = context.responseNumber;
  place.words.set(text, word);
}
