import type { SampleContext } from '../shape/add-value.ts';
import { isWord } from '../../privacy/client-text.ts';
import type { PlaceSchema } from '../place-schema.ts';
import { emptyVocabulary, type Vocabulary } from '../observations/observations.ts';

/** Documented fields whose values come from a closed set of words and are never personal. */
const FIELDS: ReadonlySet<string> = new Set([
  'nodeStates',
  'verb',
  'type',
  'operations',
  'status',
  'executionStatus',
  'sorts',
  'visibility',
]);

/** The maximum number of stored words per place. */
const MAX_WORDS = 50;

/** Returns whether the values of a place come from a closed set of words. */
export function hasVocabulary({ personal, sites }: PlaceSchema, name: string): boolean {
  return FIELDS.has(name) && !personal && sites.every(({ schema }) => schema['const'] === undefined);
}

/** Returns the path under which the words are stored: the path of the enumeration, if there is one. */
function vocabularyPath({ sites, written }: PlaceSchema): string {
  return sites.find(({ schema }) => schema.enum !== undefined)?.path ?? written.path;
}

/** Counts a word. A value that is not a plain word is counted but not stored. */
export function addWord(
  places: Map<string, Vocabulary>,
  placeSchema: PlaceSchema,
  text: string,
  context: SampleContext,
): void {
  const path = vocabularyPath(placeSchema);
  const place = places.get(path) ?? emptyVocabulary();
  places.set(path, place);
  place.seen += 1;
  place.quiet += 1;
  place.firstSeenAt ||= context.now;
  place.lastSeenAt = context.now;
  if (place.mark !== context.responseNumber) {
    place.answers += 1;
    place.quietAnswers += 1;
  }
  place.mark = context.responseNumber;
  const known = place.words.get(text);
  if (known === undefined && (!isWord(text) || place.words.size >= MAX_WORDS || context.isPersonal(text))) {
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
