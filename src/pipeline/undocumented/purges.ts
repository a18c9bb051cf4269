const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** Returns whether a successful request with this method may have changed data. */
export function mayWrite(method: string): boolean {
  return !SAFE.has(method);
}

// A Map rather than an object, because the client chooses the name and every object has a `constructor`.
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
 * the node in the path, and the tags of the lists of its resource. Returns undefined if the tags are unknown, so that
 * the whole cache must be purged (rules, 6).
 */
export function passthroughPurges(path: string): readonly string[] | undefined {
  const [resource, id] = path.replace(/^\/services\/v2\//, '').split('/');
  const lists = LISTS.get((resource ?? '').replace(/\.json$/, ''));
  if (lists === undefined || !path.startsWith('/services/v2/')) return undefined;
  const node = /^(\d{1,19})(?:\.json)?$/.exec(id ?? '')?.[1];
  return node === undefined ? lists : [`node:${node}`, ...lists];
}
