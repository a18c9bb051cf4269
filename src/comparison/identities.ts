import type { Place } from './place.ts';

/**
 * How the ids of two servers relate. `same`: they are equal. `learned`: they may differ, and the pairs are found in the
 * responses. `given`: the pairs come from a file, and an id without a pair is unknown.
 */
export type IdMode = 'same' | 'learned' | 'given';

/** A pair of ids of the same thing. */
export interface IdPair {
  readonly space: string;
  readonly old: string;
  readonly new: string;
}

/** The result of comparing two ids. `broken` means that one of them belongs to another thing. */
export type IdMatch = 'same' | 'paired' | 'broken';

/** Knows which id of the old server is which id of the new one. Every id has at most one counterpart of each kind. */
export interface Identities {
  readonly mode: IdMode;
  /** Returns the id on the old server, or undefined if it is not known. */
  toOld(space: string, id: string): string | undefined;
  toNew(space: string, id: string): string | undefined;
  /**
   * Compares two ids of the same kind, and learns a pair of which nothing is known. A pair of items that are alike in
   * other ways is `certain`. It replaces a pair that was only learned from a reference.
   */
  match(space: string, old: string, next: string, place: Place, isCertain?: boolean): IdMatch;
  /**
   * Compares two numbers in a text that may be ids, whose kind is not known. `isSegment` is true for a whole segment of
   * a path, which is certainly an id if anything has it. The result is `assumed` if nothing else has shown the pair.
   */
  matchAny(old: string, next: string, place: Place, isSegment: boolean): IdMatch | 'assumed';
  /** Returns the places at which an earlier reference has turned out to be wrong, and forgets them. */
  takeRefuted(): readonly Place[];
  pairs(): Iterable<IdPair>;
  readonly size: number;
}

interface Known {
  readonly other: string;
  readonly isCertain: boolean;
  readonly place: Place | undefined;
}

/** The kind of the ids in texts that no response has shown elsewhere. */
const IN_TEXT = 'address';

/** The maximum number of pairs. Further ids are compared, but not remembered. */
const MAX_PAIRS = 1_000_000;

/** Creates the relation, from the given pairs. Throws an Error if the pairs contradict each other. */
export function createIdentities(mode: IdMode, given: readonly IdPair[] = []): Identities {
  const spaces = new Map<string, { readonly toNew: Map<string, Known>; readonly toOld: Map<string, Known> }>();
  let size = 0;
  let refuted: Place[] = [];
  const spaceOf = (name: string) => {
    const known = spaces.get(name);
    if (known !== undefined) return known;
    const created = { toNew: new Map<string, Known>(), toOld: new Map<string, Known>() };
    spaces.set(name, created);
    return created;
  };
  const put = (name: string, old: string, next: string, isCertain: boolean, place: Place | undefined) => {
    if (size >= MAX_PAIRS) return;
    const { toNew, toOld } = spaceOf(name);
    if (!toNew.has(old)) size += 1;
    toNew.set(old, { other: next, isCertain, place });
    toOld.set(next, { other: old, isCertain, place });
  };
  const forget = (name: string, old: string, next: string) => {
    const { toNew, toOld } = spaceOf(name);
    if (toNew.delete(old)) size -= 1;
    toOld.delete(next);
  };
  for (const pair of given) {
    const { toNew, toOld } = spaceOf(pair.space);
    const [was, wasOld] = [toNew.get(pair.old)?.other ?? pair.new, toOld.get(pair.new)?.other ?? pair.old];
    if (was !== pair.new || wasOld !== pair.old)
      throw new Error(`${pair.space} ${pair.old} and ${pair.new}: one of them already has another counterpart`);
    put(pair.space, pair.old, pair.new, true, undefined);
  }
  const match: Identities['match'] = (name, old, next, place, isCertain = false) => {
    if (mode === 'same') return old === next ? 'same' : 'broken';
    const { toNew, toOld } = spaceOf(name);
    const [forward, back] = [toNew.get(old), toOld.get(next)];
    if (forward?.other === next) {
      if (isCertain && !forward.isCertain) put(name, old, next, true, forward.place);
      return old === next ? 'same' : 'paired';
    }
    if (forward === undefined && back === undefined) {
      if (mode === 'given') return old === next ? 'same' : 'broken';
      put(name, old, next, isCertain, place);
      return old === next ? 'same' : 'paired';
    }
    if (!isCertain || forward?.isCertain === true || back?.isCertain === true) return 'broken';
    // Both items were seen, so the reference from which another pair was learned is wrong.
    for (const [id, known] of [
      [old, forward],
      [undefined, back],
    ] as const) {
      if (known === undefined) continue;
      if (known.place !== undefined) refuted.push(known.place);
      forget(name, id ?? known.other, id === undefined ? next : known.other);
    }
    put(name, old, next, true, place);
    return old === next ? 'same' : 'paired';
  };
  return {
    mode,
    toOld: (name, id) => spaces.get(name)?.toOld.get(id)?.other ?? (mode === 'same' ? id : undefined),
    toNew: (name, id) => spaces.get(name)?.toNew.get(id)?.other ?? (mode === 'same' ? id : undefined),
    match,
    matchAny(old, next, place, isSegment) {
      if (mode === 'same') return old === next ? 'same' : 'broken';
      const others = [...spaces].filter(([name]) => name !== IN_TEXT).map(([, { toNew }]) => toNew.get(old)?.other);
      if (others.includes(next)) return old === next ? 'same' : 'paired';
      const isKnown = others.some((other) => other !== undefined);
      // Without the kind, an equal id can only be called wrong if nothing on the new server has it.
      if (old === next) {
        const isOnNew = [...spaces.values()].some(({ toOld }) => toOld.has(next));
        return isSegment && isKnown && !isOnNew ? 'broken' : 'same';
      }
      if (isKnown) return 'broken';
      const result = match(IN_TEXT, old, next, place);
      // Nothing but this text relates the two, so they may just as well be different numbers.
      return result === 'paired' ? 'assumed' : result;
    },
    takeRefuted() {
      const found = refuted;
      refuted = [];
      return found;
    },
    *pairs() {
      for (const [space, { toNew }] of spaces) for (const [old, { other }] of toNew) yield { space, old, new: other };
    },
    get size() {
      return size;
    },
  };
}
