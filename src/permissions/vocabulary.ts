import { createHash } from 'node:crypto';
import { createBitSet, membersOf, type BitSet } from '../lib/bit-set.ts';
import type { Requirement } from '../model/requirement.ts';

/** Something that can be held. */
export interface Term {
  readonly kind: 'permission' | 'group' | 'flag';
  readonly name: string;
}

/** Numbers every term that rules and accounts speak of, so that sets of them are sets of bits. */
export interface Vocabulary {
  readonly terms: readonly Term[];
  /** Throws RangeError for a term that nobody declared. */
  indexOf(term: Term): number;
  setOf(terms: Iterable<Term>): BitSet;
  /** Stable text for a set, the same whatever else the vocabulary holds. */
  keyOf(set: BitSet): string;
}

const textOf = ({ kind, name }: Term) => `${kind}:${name}`;

/** Numbers terms in the order of their text, each once. */
export function createVocabulary(declared: Iterable<Term>): Vocabulary {
  const byText = new Map([...declared].map((term) => [textOf(term), term]));
  const texts = [...byText.keys()].sort();
  const terms = texts.map((text) => byText.get(text)).filter((term) => term !== undefined);
  const indices = new Map(texts.map((text, index) => [text, index]));
  const indexOf = (term: Term) => {
    const index = indices.get(textOf(term));
    if (index === undefined) throw new RangeError(`no rule or account speaks of ${textOf(term)}`);
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

/** Every term that a requirement speaks of. */
export function termsOf(requirement: Requirement): Term[] {
  if ('permission' in requirement) return [{ kind: 'permission', name: requirement.permission }];
  if ('group' in requirement) return [{ kind: 'group', name: requirement.group }];
  if ('flag' in requirement) return [{ kind: 'flag', name: requirement.flag }];
  if ('own' in requirement) return termsOf(requirement.own);
  return ('all' in requirement ? requirement.all : requirement.any).flatMap(termsOf);
}
