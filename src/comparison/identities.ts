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
   * Compares two numbers in a text that may be ids, whose kind is not known. What stands `before` them in an address,
   * such as `questions/`, tells the kind once an id has been recognized there; what contradicts it is then wrong, also
   * in earlier texts. The result is `assumed` if nothing else has shown the pair.
   */
  matchAny(old: string, next: string, place: Place, before: string): IdMatch | 'assumed';
  /** Judges what only more texts could have told. Called once, at the end. */
  settle(): void;
  /** Returns the places at which an earlier reference has turned out to be wrong, and forgets them. */
  takeRefuted(): readonly Place[];
  pairs(): Iterable<IdPair>;
  /** Returns what was learned, with places as numbers, from which `restore` continues. */
  save(numberOf: (place: Place) => number): SavedIdentities;
  restore(saved: SavedIdentities, placeAt: (number: number) => Place): void;
  readonly size: number;
}

/** What was learned of ids, as plain data. Places are numbers. */
export interface SavedIdentities {
  readonly pairs: readonly (readonly [space: string, old: string, next: string, isCertain: boolean, place?: number])[];
  readonly segments: readonly {
    readonly name: string;
    readonly matched: readonly (readonly [space: string, ids: readonly string[]])[];
    readonly doubts: readonly (readonly [old: string, next: string, place: number, isOver: boolean])[];
  }[];
  readonly refuted: readonly number[];
}

interface Known {
  readonly other: string;
  readonly isCertain: boolean;
  readonly place: Place | undefined;
}

/** The pairs of a kind, in both directions. */
interface Space {
  readonly toNew: Map<string, Known>;
  readonly toOld: Map<string, Known>;
}

/** What has been seen of the numbers that follow the same segment in addresses. */
interface Segment {
  /** The ids of each kind that stand there with their counterparts. */
  readonly matched: Map<string, Set<string>>;
  /** Pairs that no kind has, although some kind has one of the two. They are judged once the kind is known. */
  readonly doubts: Map<string, { readonly old: string; readonly next: string; readonly place: Place; isOver: boolean }>;
}

/** The kind of the numbers in texts that no response has shown elsewhere, unless an address tells more about them. */
const IN_TEXT = 'address';
const SEGMENT = /[\w.-]{1,60}[/=]$/;
const isInText = (space: string) => space === IN_TEXT || /[/=]$/.test(space);

/** The maximum number of pairs. Further ids are compared, but not remembered. */
const MAX_PAIRS = 1_000_000;
const MAX_SEGMENTS = 1_000;
/** The maximum numbers of matched ids of a kind, and of doubts, that are remembered of a segment. */
const MAX_SEEN = 100;
/** Kinds whose numbers are close together match by accident, too. More contradictions per match show that. */
const MAX_CONTRADICTIONS = 4;

const contradicts = ({ toNew, toOld }: Space, old: string, next: string): boolean =>
  (toNew.get(old)?.other ?? next) !== next || (toOld.get(next)?.other ?? old) !== old;

/** Creates the relation, from the given pairs. Throws an Error if the pairs contradict each other. */
export function createIdentities(mode: IdMode, given: readonly IdPair[] = []): Identities {
  const spaces = new Map<string, Space>();
  const segments = new Map<string, Segment>();
  let size = 0;
  let refuted: Place[] = [];
  const spaceOf = (name: string) => {
    const known = spaces.get(name);
    if (known !== undefined) return known;
    const created = { toNew: new Map<string, Known>(), toOld: new Map<string, Known>() };
    spaces.set(name, created);
    return created;
  };
  const segmentOf = (name: string | undefined): Segment | undefined => {
    if (name === undefined || mode !== 'learned') return undefined;
    const known = segments.get(name);
    if (known !== undefined || segments.size >= MAX_SEGMENTS) return known;
    const created: Segment = { matched: new Map(), doubts: new Map() };
    segments.set(name, created);
    return created;
  };
  /** Returns the kinds of which the numbers after a segment are, by what most of them match. */
  const kindsOf = ({ matched, doubts }: Segment): readonly Space[] => {
    const most = Math.max(0, ...Array.from(matched.values(), ({ size: count }) => count));
    return [...matched].flatMap(([name, { size: count }]) => {
      const space = spaceOf(name);
      const against = [...doubts.values()].filter(({ old, next }) => contradicts(space, old, next)).length;
      return count === most && against <= count * MAX_CONTRADICTIONS ? [space] : [];
    });
  };
  const judge = ({ matched, doubts }: Segment, isEnd: boolean) => {
    const kinds = kindsOf({ matched, doubts });
    const open = [...doubts.values()].filter(({ isOver }) => !isOver);
    // Several numbers that match nothing are ids of a kind of their own, unless they are still those of the old server.
    const isOwnKind = open.length > 1;
    for (const doubt of open) {
      const { old, next, place } = doubt;
      const isWrong =
        kinds.length > 0 ? kinds.some((space) => contradicts(space, old, next)) : isEnd && (old === next || !isOwnKind);
      if (!isWrong) continue;
      doubt.isOver = true;
      if (!refuted.includes(place)) refuted.push(place);
    }
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
    matchAny(old, next, place, before) {
      if (mode === 'same') return old === next ? 'same' : 'broken';
      const name = SEGMENT.exec(before)?.[0];
      const segment = segmentOf(name);
      const kinds = [...spaces].filter(([space]) => !isInText(space));
      const matching = kinds.filter(([, { toNew }]) => toNew.get(old)?.other === next);
      for (const [space] of matching) {
        const seen = segment?.matched.get(space) ?? new Set();
        if (seen.size < MAX_SEEN) segment?.matched.set(space, seen.add(old));
      }
      if (matching.length > 0) {
        if (segment !== undefined && segment.doubts.size > 0) judge(segment, false);
        return old === next ? 'same' : 'paired';
      }
      const known = kinds.filter(([, { toNew }]) => toNew.has(old));
      const isOnNew = [...spaces.values()].some(({ toOld }) => toOld.has(next));
      // Without the kind, an equal id can only be called wrong if nothing on the new server has it.
      const isDoubtful = known.length > 0 && (old !== next || (before.endsWith('/') && !isOnNew));
      const own = segment === undefined ? [] : kindsOf(segment);
      const isWrong = own.some((space) => contradicts(space, old, next));
      if (
        isDoubtful &&
        segment !== undefined &&
        segment.doubts.size < MAX_SEEN &&
        !segment.doubts.has(`${old} ${next}`)
      )
        segment.doubts.set(`${old} ${next}`, { old, next, place, isOver: isWrong });
      if (isWrong || (isDoubtful && segment === undefined)) return 'broken';
      if (old === next) return 'same';
      const result = match(name === undefined ? IN_TEXT : `/${name}`, old, next, place);
      // Nothing but this text relates the two, so they may just as well be different numbers.
      return result === 'paired' ? 'assumed' : result;
    },
    settle() {
      for (const segment of segments.values()) judge(segment, true);
    },
    takeRefuted() {
      const found = refuted;
      refuted = [];
      return found;
    },
    *pairs() {
      for (const [space, { toNew }] of spaces) for (const [old, { other }] of toNew) yield { space, old, new: other };
    },
    save(numberOf) {
      // Only what was learned is not in a file of pairs.
      if (mode !== 'learned') return { pairs: [], segments: [], refuted: [] };
      return {
        pairs: [...spaces].flatMap(([space, { toNew }]) =>
          Array.from(toNew, ([old, { other, isCertain, place }]) =>
            place === undefined
              ? ([space, old, other, isCertain] as const)
              : ([space, old, other, isCertain, numberOf(place)] as const),
          ),
        ),
        segments: Array.from(segments, ([name, { matched, doubts }]) => ({
          name,
          matched: Array.from(matched, ([space, seen]) => [space, [...seen]] as const),
          doubts: Array.from(
            doubts.values(),
            ({ old, next, place, isOver }) => [old, next, numberOf(place), isOver] as const,
          ),
        })),
        refuted: refuted.map(numberOf),
      };
    },
    restore(saved, placeAt) {
      if (mode !== 'learned') return;
      spaces.clear();
      size = 0;
      for (const [space, old, next, isCertain, place] of saved.pairs)
        put(space, old, next, isCertain, place === undefined ? undefined : placeAt(place));
      for (const { name, matched, doubts } of saved.segments)
        segments.set(name, {
          matched: new Map(matched.map(([space, seen]) => [space, new Set(seen)])),
          doubts: new Map(
            doubts.map(([old, next, place, isOver]) => [
              `${old} ${next}`,
              { old, next, place: placeAt(place), isOver },
            ]),
          ),
        });
      refuted = saved.refuted.map(placeAt);
    },
    get size() {
      return size;
    },
  };
}
