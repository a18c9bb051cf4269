import type { Adding } from '../shape/add-value.ts';
import { isWord } from '../../privacy/client-text.ts';
import type { Guide } from '../guide.ts';
import type { Vocabulary } from '../observations/observations.ts';

/** Documented fields whose texts are words of a closed set, and nobody's. */
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

/** Words of one place that are remembered at most. */
const MAX_WORDS = 50;

/** True for a place whose texts are words of a closed set. */
export function hasVocabulary({ personal, sites }: Guide, name: string): boolean {
  return FIELDS.has(name) && !personal && sites.every(({ schema }) => schema['const'] === undefined);
}

/** Where words are written: at the enumeration where there is one. */
function vocabularyPath({ sites, written }: Guide): string {
  return sites.find(({ schema }) => schema.enum !== undefined)?.path ?? written.path;
}

/** Counts a word of a closed set; what is no plain word is counted without being kept. */
export function addWord(places: Map<string, Vocabulary>, guide: Guide, text: string, adding: Adding): void {
  const path = vocabularyPath(guide);
  const place = places.get(path) ?? emptyVocabulary();
  places.set(path, place);
  place.seen += 1;
  place.quiet += 1;
  place.firstSeenAt ||= adding.now;
  place.lastSeenAt = adding.now;
  if (place.mark !== adding.answer) {
    place.answers += 1;
    place.quietAnswers += 1;
  }
  place.mark = adding.answer;
  const known = place.words.get(text);
  if (known === undefined && (!isWord(text) || place.words.size >= MAX_WORDS || adding.isPersonal(text))) {
    place.other += 1;
    return;
  }
  const word = known ?? { seen: 0, answers: 0, mark: 0 };
  if (known === undefined) place.quiet = place.quietAnswers = 0;
  word.seen += 1;
  if (word.mark !== adding.answer) word.answers += 1;
  word.mark = adding.answer;
  place.words.set(text, word);
}

/** The texts of a place of which none was seen yet. */
export function emptyVocabulary(): Vocabulary {
  const counts = { seen: 0, answers: 0, mark: 0, other: 0, quiet: 0, quietAnswers: 0 };
  return { ...counts, firstSeenAt: 0, lastSeenAt: 0, words: new Map() };
}
