/** A set of small non-negative integers, stored as 32 bits per word. Only sets of the same size can be combined. */
export type BitSet = Uint32Array;

/** Creates a set for integers from 0 to `size` - 1. Throws `RangeError` for a member outside this range. */
export function createBitSet(size: number, members: Iterable<number> = []): BitSet {
  const set = new Uint32Array(Math.ceil(size / 32));
  for (const member of members) {
    if (member < 0 || member >= size) throw new RangeError(`${member} is out of range for a set of size ${size}`);
    set[member >>> 5] = (set[member >>> 5] ?? 0) | (1 << (member & 31));
  }
  return set;
}

/** Returns whether every member of `part` is in `whole`. An empty `part` is contained in every set. */
export function containsAll(whole: BitSet, part: BitSet): boolean {
  for (let word = 0; word < part.length; word++) {
    const wanted = part[word] ?? 0;
    if (((whole[word] ?? 0) & wanted) >>> 0 !== wanted) return false;
  }
  return true;
}

/** Returns the members of a set in ascending order. */
export function membersOf(set: BitSet): number[] {
  const members: number[] = [];
  set.forEach((bits, word) => {
    for (let bit = 0; bit < 32; bit++) if (bits & (1 << bit)) members.push(word * 32 + bit);
  });
  return members;
}
