import { kindOf, wildcardOf } from './tags-of.ts';

// No tag ends so: it stands for "everything of this kind was purged".
const wholeKind = (kind: string) => `${kind}:**`;

/** What a purge of these tags moves: themselves, the wildcards of their kinds, and whole kinds where a wildcard is purged. */
export function purgeReach(tags: Iterable<string>): ReadonlySet<string> {
  const reached = new Set<string>();
  for (const tag of tags) {
    reached.add(tag);
    const kind = kindOf(tag);
    if (kind === undefined) continue;
    reached.add(wildcardOf(kind));
    if (tag === wildcardOf(kind)) reached.add(wholeKind(kind));
  }
  return reached;
}

/** What a page with these tags is spoiled by. */
export function spoiledBy(tags: Iterable<string>): ReadonlySet<string> {
  const spoilers = new Set<string>();
  for (const tag of tags) {
    spoilers.add(tag);
    const kind = kindOf(tag);
    if (kind !== undefined) spoilers.add(wholeKind(kind));
  }
  return spoilers;
}
