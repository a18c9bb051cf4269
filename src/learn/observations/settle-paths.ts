import type { PathCounts } from './observations.ts';
import { mergeShapes } from '../shape/merge-shapes.ts';
import { settleShape, type Settling } from '../shape/settle-shape.ts';

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
