import { keysOf } from '../lib/json-pointer.ts';

/**
 * The parts of a body that belong to an excerpt, as a tree of member names. The name `*` stands for every element of
 * an array.
 */
export interface ExcerptTree {
  readonly inside: ReadonlyMap<string, ExcerptTree>;
}

interface BuiltTree extends ExcerptTree {
  readonly inside: Map<string, BuiltTree>;
}

/** The name that stands for all elements of an array in a path. */
export const EVERY_ELEMENT = '*';

/** Builds the tree for a list of JSON pointers such as `/list/*\/id`. */
export function toExcerptTree(paths: readonly string[]): ExcerptTree {
  const root: BuiltTree = { inside: new Map() };
  for (const path of paths) {
    let here = root;
    for (const name of keysOf(path)) {
      const next = here.inside.get(name) ?? { inside: new Map<string, BuiltTree>() };
      here.inside.set(name, next);
      here = next;
    }
  }
  return root;
}
