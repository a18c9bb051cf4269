import { containsAll, membersOf, type BitSet, type Vocabulary } from './vocabulary.ts';
import type { Requirement } from '../model/operation.ts';

/** One way to meet a requirement: having all of `bits` and, if `own` is true, being the node's author. */
export interface Alternative {
  readonly bits: BitSet;
  readonly own: boolean;
  /** The name for each bit, in the order in which the requirement lists the names. */
  readonly names: readonly { readonly index: number; readonly name: string }[];
}

/** A requirement as a list of alternatives. Meeting any one of them is sufficient. */
export interface CompiledRequirement {
  readonly alternatives: readonly Alternative[];
}

interface Way {
  readonly indices: readonly number[];
  readonly own: boolean;
}

/** Compiles a requirement into its alternatives. An undefined requirement is always met. */
export function compileRequirement(requirement: Requirement | undefined, vocabulary: Vocabulary): CompiledRequirement {
  const ways = requirement === undefined ? [{ indices: [], own: false }] : waysOf(requirement, vocabulary);
  const alternatives = ways.map(({ indices, own }): Alternative => {
    const names = [...new Set(indices)].map((index) => ({ index, name: vocabulary.terms[index]?.name ?? '' }));
    return { bits: vocabulary.setOf(names.flatMap(({ index }) => vocabulary.terms[index] ?? [])), own, names };
  });
  return {
    alternatives: alternatives.filter((one, at) => !alternatives.some((other, i) => covers(other, i, one, at))),
  };
}

/** Returns whether every caller meets the requirement. */
export function requiresNothing({ alternatives }: CompiledRequirement): boolean {
  return alternatives.some(({ bits, own }) => !own && membersOf(bits).length === 0);
}

function waysOf(requirement: Requirement, vocabulary: Vocabulary): Way[] {
  if ('any' in requirement) return requirement.any.flatMap((one) => waysOf(one, vocabulary));
  if ('own' in requirement) return waysOf(requirement.own, vocabulary).map(({ indices }) => ({ indices, own: true }));
  if ('all' in requirement)
    return requirement.all.reduce<Way[]>(
      (ways, one) => {
        const further = waysOf(one, vocabulary);
        return ways.flatMap((way) => further.map((more) => join(way, more)));
      },
      [{ indices: [], own: false }],
    );
  if ('permission' in requirement)
    return leaf(vocabulary.indexOf({ kind: 'permission', name: requirement.permission }));
  if ('group' in requirement) return leaf(vocabulary.indexOf({ kind: 'group', name: requirement.group }));
  return leaf(vocabulary.indexOf({ kind: 'flag', name: requirement.flag }));
}

const leaf = (index: number): Way[] => [{ indices: [index], own: false }];

const join = (a: Way, b: Way): Way => ({ indices: [...a.indices, ...b.indices], own: a.own || b.own });

/**
 * Returns whether `other` makes `one` redundant, that is, whether every caller who meets `one` also meets `other`. If
 * the two are equal, only the second is redundant.
 */
function covers(other: Alternative, otherAt: number, one: Alternative, at: number): boolean {
  if (otherAt === at || (other.own && !one.own) || !containsAll(one.bits, other.bits)) return false;
  const equal = other.own === one.own && containsAll(other.bits, one.bits);
  return !equal || otherAt < at;
}
