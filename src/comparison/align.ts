/** Two lists with the same items in the same places, as far as they have the same items. */
export interface Alignment {
  /** The index of each shared item in both lists, in the order of the first list. */
  readonly pairs: readonly (readonly [a: number, b: number])[];
  /** The indices of the items that only one list has. */
  readonly onlyA: readonly number[];
  readonly onlyB: readonly number[];
}

/** Aligns two lists by keys. If a key occurs several times, its occurrences are paired in order. */
export function alignByKey(a: readonly string[], b: readonly string[]): Alignment {
  const waiting = new Map<string, number[]>();
  b.forEach((key, at) => {
    const known = waiting.get(key);
    if (known === undefined) waiting.set(key, [at]);
    else known.push(at);
  });
  const pairs: [number, number][] = [];
  const onlyA: number[] = [];
  const taken = new Map<string, number>();
  a.forEach((key, at) => {
    const used = taken.get(key) ?? 0;
    const other = waiting.get(key)?.[used];
    if (other === undefined) onlyA.push(at);
    else {
      taken.set(key, used + 1);
      pairs.push([at, other]);
    }
  });
  const paired = new Set(pairs.map(([, other]) => other));
  return { pairs, onlyA, onlyB: b.flatMap((_, at) => (paired.has(at) ? [] : [at])) };
}

/** The facts by which items without a common id are recognized: each is a short text that few other items share. */
export type ItemFacts = ReadonlyMap<string, string>;

/** The least share of equal facts, by their weights, of two items that are taken for the same one. */
const ALIKE = 0.5;
/** The maximum number of items that are compared with each other. */
const MAX_COMPARED = 200;

/**
 * Finds the items of two lists that are the same thing, by what is equal in them: first those that are equal in
 * everything and unique, then those that are each other's best match. Returns pairs of indices. `lists` are the whole
 * lists, which show how much a fact tells: what most items share, such as a zero or a common title, tells little.
 */
export function alignByFacts(
  a: readonly (readonly [index: number, facts: ItemFacts])[],
  b: readonly (readonly [index: number, facts: ItemFacts])[],
  lists: readonly (readonly ItemFacts[])[] = [a, b].map((list) => list.map(([, facts]) => facts)),
): readonly (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = [];
  const signature = (facts: ItemFacts) => JSON.stringify([...facts].toSorted(([x], [y]) => (x < y ? -1 : 1)));
  const [ofA, ofB] = [Map.groupBy(a, ([, facts]) => signature(facts)), Map.groupBy(b, ([, facts]) => signature(facts))];
  for (const [key, [first, second]] of ofA) {
    const [other, another] = ofB.get(key) ?? [];
    if (first === undefined || other === undefined || second !== undefined || another !== undefined) continue;
    pairs.push([first[0], other[0]]);
  }
  const [doneA, doneB] = [new Set(pairs.map(([x]) => x)), new Set(pairs.map(([, y]) => y))];
  const restA = a.filter(([index]) => !doneA.has(index)).slice(0, MAX_COMPARED);
  const restB = b.filter(([index]) => !doneB.has(index)).slice(0, MAX_COMPARED);
  // Scores are compared in descending order, and a tie is left open, because a wrong pair is worse than none.
  const weight = weigh(lists);
  const scores = restA.flatMap(([x, facts]) =>
    restB.map(([y, other]) => ({ x, y, score: likeness(facts, other, weight) })),
  );
  const best = (of: 'x' | 'y') => {
    const found = new Map<number, { score: number; at: number; isTied: boolean }>();
    for (const one of scores) {
      const known = found.get(one[of]);
      const at = of === 'x' ? one.y : one.x;
      if (known === undefined || one.score > known.score) found.set(one[of], { score: one.score, at, isTied: false });
      else if (one.score === known.score) known.isTied = true;
    }
    return found;
  };
  const [bestOfA, bestOfB] = [best('x'), best('y')];
  for (const [x, { score, at, isTied }] of bestOfA) {
    const back = bestOfB.get(at);
    if (score >= ALIKE && !isTied && back?.at === x && !back.isTied) pairs.push([x, at]);
  }
  return pairs;
}

/**
 * Returns a function that says how much a fact tells: 1 if its values are all different in one of the lists, 0 if they
 * are all the same. A single item shows nothing about that, so all of its facts count alike.
 */
function weigh(lists: readonly (readonly ItemFacts[])[]): (name: string) => number {
  const known = new Map<string, number>();
  const varietyOf = (name: string, list: readonly ItemFacts[]) =>
    list.length === 1 ? 1 : (new Set(list.map((facts) => facts.get(name))).size - 1) / (list.length - 1);
  return (name) => {
    const weight = known.get(name) ?? Math.max(...lists.map((list) => (list.length === 0 ? 0 : varietyOf(name, list))));
    known.set(name, weight);
    return weight;
  };
}

function likeness(a: ItemFacts, b: ItemFacts, weight: (name: string) => number): number {
  let [equal, all] = [0, 0];
  for (const name of new Set([...a.keys(), ...b.keys()])) {
    all += weight(name);
    if (a.has(name) && a.get(name) === b.get(name)) equal += weight(name);
  }
  return all === 0 ? 0 : equal / all;
}

/**
 * Returns how many numbers must be moved so that the others are in ascending order. Equal numbers may stand in any
 * order.
 */
export function countMoved(ranks: readonly number[]): number {
  // The last rank of the best ascending sequence of each length.
  const ends: number[] = [];
  for (const rank of ranks) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ends[middle] as number) <= rank) low = middle + 1;
      else high = middle;
    }
    ends[low] = rank;
  }
  return ranks.length - ends.length;
}

/** Returns, for each key, the number of the run of equal keys to which it belongs. A key that is unknown is a run of its own. */
export function runsOf(keys: readonly (string | undefined)[]): readonly number[] {
  let run = -1;
  return keys.map((key, at) => {
    if (at === 0 || key === undefined || key !== keys[at - 1]) run += 1;
    return run;
  });
}
