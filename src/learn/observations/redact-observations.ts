import { mergeShapes } from '../shape/merge-shapes.ts';
import { redactObjects, redactShape, type RedactOptions } from '../shape/redact-shape.ts';
import type { ObjectCounts, Shape } from '../shape/shape.ts';
import type { Observations, PathCounts, Vocabulary } from './observations.ts';

/** Returns a copy that may be stored, without names and words that are too rare or may be personal. */
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
    envelopes: mapValues(all.envelopes, (shape) => redactShape(shape, options)),
    paths: redactPaths(all.paths, options),
  };
}

function redactVocabulary(vocabulary: Vocabulary, { minAnswers, isPersonal }: RedactOptions): Vocabulary {
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

/** Replaces each path segment that is too rare or may be personal with `{name}` and merges paths that become equal. */
function redactPaths(paths: ReadonlyMap<string, PathCounts>, options: RedactOptions): Map<string, PathCounts> {
  const redacted = new Map<string, PathCounts>();
  for (const [key, counts] of paths) {
    const template = redactKey(key, (word) => counts.seen >= options.minAnswers && !options.isPersonal(word), options);
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

/** Returns the number of named shapes in observations, to enforce the limit on them. */
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
