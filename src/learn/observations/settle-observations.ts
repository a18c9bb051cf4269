import { mergeShapes } from '../shape/merge-shapes.ts';
import { settleObjects, settleShape, type Settling } from '../shape/settle-shape.ts';
import type { ObjectCounts, Shape } from '../shape/shape.ts';
import type { Observations, PathCounts, Vocabulary } from './observations.ts';

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

/** Addresses as they may be written down: a word that was seen too seldom, or may be somebody's, is `{name}`. */
export function settlePaths(paths: ReadonlyMap<string, PathCounts>, settling: Settling): Map<string, PathCounts> {
  const settled = new Map<string, PathCounts>();
  for (const [key, counts] of paths) {
    const template = settleKey(
      key,
      (word) => counts.seen >= settling.minAnswers && !settling.isPersonal(word),
      settling,
    );
    const body = counts.body && settleShape(counts.body, settling);
    const other = settled.get(template);
    settled.set(
      template,
      other === undefined ? { ...counts, statuses: new Map(counts.statuses), body } : merge(other, { ...counts, body }),
    );
  }
  return settled;
}

function settleKey(key: string, isTrusted: (word: string) => boolean, { isKnownWord }: Settling): string {
  const [method = '', template = ''] = key.split(' ', 2);
  const ending = template.endsWith('.json') ? '.json' : '';
  const segments = template.slice(0, template.length - ending.length).split('/');
  const settled = segments.map((word) =>
    word === '' || word.startsWith('{') || isKnownWord(word) || isTrusted(word) ? word : '{name}',
  );
  return `${method} ${settled.join('/')}${ending}`;
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

/** How many named shapes observations hold, for the limit on them. */
export function countShapes({ open, described, mistyped, envelopes, paths }: Observations): number {
  const shapes = [
    ...open.values(),
    ...mistyped.values(),
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
