import { BASE_PATH } from './base-path.ts';

// A Map is safer than an object, because the client chooses the name and every object has a `constructor` property.
const LISTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['question', ['questions']],
  ['answer', ['questions', 'comments']],
  ['comment', ['comments', 'questions']],
  ['idea', ['ideas']],
  ['article', ['articles']],
  ['kbentry', ['articles']],
  ['topic', ['topics', 'questions', 'articles', 'ideas', 'users']],
  ['group', ['users']],
]);

/**
 * Returns the tags of everything that a successful unsafe request to an undocumented path may have changed: the tag of
 * the node in the path, and the tags of the lists of its resource. Returns undefined if the tags are unknown, in which
 * case the whole cache must be purged (docs/rules.md §6).
 */
export function purgedBy(path: string): readonly string[] | undefined {
  const below = path.startsWith(BASE_PATH) ? path.slice(BASE_PATH.length) : path;
  const [resource, id] = below.split('/');
  const lists = LISTS.get((resource ?? '').replace(/\.json$/, ''));
  if (lists === undefined) return undefined;
  const node = /^(\d{1,19})(?:\.json)?$/.exec(id ?? '')?.[1];
  return node === undefined ? lists : [`node:${node}`, ...lists];
}
