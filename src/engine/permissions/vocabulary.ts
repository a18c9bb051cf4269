import { createHash } from 'node:crypto';
import type { Term } from '../model/operation.ts';

/**
 * Assigns a number to each term that occurs in rules and accounts, so that a set of terms can be stored as a bit set.
 */
export interface Vocabulary {
  readonly terms: readonly Term[];
  /** Returns the number of a term. Throws `RangeError` if the term is undeclared. */
  indexOf(term: Term): number;
  setOf(terms: Iterable<Term>): BitSet;
  /** Returns a stable key for a set of terms. The key does not depend on the other terms in the vocabulary. */
  keyOf(set: BitSet): string;
}

const textOf = ({ kind, name }: Term) => `${kind}:${name}`;

/** Creates a vocabulary of the distinct terms, sorted by their text. */
export function createVocabulary(declared: Iterable<Term>): Vocabulary {
  const byText = new Map([...declared].map((term) => [textOf(term), term]));
  const texts = [...byText.keys()].sort();
  const terms = texts.map((text) => byText.get(text)).filter((term) => term !== undefined);
  const indices = new Map(texts.map((text, index) => [text, index]));
  const indexOf = (term: Term) => {
    const index = indices.get(textOf(term));
    if (index === undefined) throw new RangeError(`no rule or account uses ${textOf(term)}`);
    return index;
  };
  return {
    terms,
    indexOf,
    setOf: (wanted) => createBitSet(terms.length, Iterator.from(wanted).map(indexOf)),
    keyOf(set) {
      const held = membersOf(set).map((index) => texts[index]);
      return createHash('sha256').update(JSON.stringify(held)).digest('base64url').slice(0, 22);
    },
  };
}

/** A set of small non-negative integers, stored as 32 bits per word. Only sets of the same size can be combined. */
export type BitSet = Uint32Array;

/** Creates a set of integers from 0 to `size` - 1. Throws `RangeError` for a member outside this range. */
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
