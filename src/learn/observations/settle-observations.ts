import type { Observations, Vocabulary } from './observations.ts';
import { settlePaths } from './settle-paths.ts';
import { settleObjects, settleShape, type Settling } from '../shape/settle-shape.ts';

/** A copy that may be written down: without names and words that were seen too seldom, or that may be somebody's. */
export function settleObservations(all: Observations, settling: Settling): Observations {
  return {
    ...all,
    open: mapValues(all.open, (shape) => settleShape(shape, settling)),
    described: mapValues(all.described, ({ objects, missing }) => ({
      objects: settleObjects(objects, settling),
      missing: new Map(missing),
    })),
    vocabularies: mapValues(all.vocabularies, (vocabulary) => settleVocabulary(vocabulary, settling)),
    mistyped: mapValues(all.mistyped, (shape) => settleShape(shape, settling)),
    envelopes: mapValues(all.envelopes, (shape) => settleShape(shape, settling)),
    paths: settlePaths(all.paths, settling),
  };
}

function settleVocabulary(vocabulary: Vocabulary, { minAnswers, isPersonal }: Settling): Vocabulary {
  const words: Vocabulary['words'] = new Map();
  let { other } = vocabulary;
  for (const [word, counts] of vocabulary.words) {
    if (counts.answers < minAnswers || isPersonal(word)) other += counts.seen;
    else words.set(word, { ...counts, mark: 0 });
  }
  return { ...vocabulary, mark: 0, other, words };
}

function mapValues<T>(map: ReadonlyMap<string, T>, change: (value: T) => T): Map<string, T> {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}
