import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Requirement, Term } from '../../../src/engine/model/operation.ts';
import { requiresNothing, compileRequirement } from '../../../src/engine/permissions/compile-requirement.ts';
import { decide } from '../../../src/engine/permissions/decide.ts';
import { createVocabulary } from '../../../src/engine/permissions/vocabulary.ts';

// Terms of all kinds have the same names, so the tests detect if, for example, a permission is mistaken for a group.
const TERMS: readonly Term[] = ['a', 'b', 'c', 'd'].flatMap((name) => [
  { kind: 'permission', name },
  { kind: 'group', name },
  { kind: 'flag', name },
]);
const vocabulary = createVocabulary(TERMS);
const NO_GRANTS = { roles: [], delegated: false, denied: false, key: 'key' };

const term = fc.constantFrom(...TERMS);
const toLeaf = ({ kind, name }: Term) => ({ [kind]: name }) as Requirement;
const requirement = fc.letrec<{ node: Requirement }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    term.map(toLeaf),
    fc.array(tie('node'), { maxLength: 3 }).map((all) => ({ all })),
    fc.array(tie('node'), { maxLength: 3 }).map((any) => ({ any })),
    tie('node').map((own) => ({ own })),
  ),
})).node;

/** Evaluates a requirement directly, without compiling it. */
function meets(one: Requirement, held: readonly Term[], own: boolean): boolean {
  if ('all' in one) return one.all.every((part) => meets(part, held, own));
  if ('any' in one) return one.any.some((part) => meets(part, held, own));
  if ('own' in one) return own && meets(one.own, held, own);
  return held.some(({ kind, name }) => (one as Record<string, string>)[kind] === name);
}

describe('a compiled requirement', () => {
  it('decides like a direct evaluation of the requirement', () => {
    fc.assert(
      fc.property(requirement, fc.uniqueArray(term), fc.boolean(), (one, held, own) => {
        const grants = { ...NO_GRANTS, bits: vocabulary.setOf(held) };
        const decision = decide(compileRequirement(one, vocabulary), grants, own ? 'own' : 'other');
        expect(decision.verdict).toBe(meets(one, held, own) ? 'allowed' : 'denied');
      }),
      { numRuns: 2000 },
    );
  });

  it('depends on ownership exactly when ownership would change the verdict', () => {
    fc.assert(
      fc.property(
        requirement,
        fc.uniqueArray(term),
        fc.constantFrom('unknown', 'not-checked'),
        (one, held, ownership) => {
          const grants = { ...NO_GRANTS, bits: vocabulary.setOf(held) };
          const decision = decide(compileRequirement(one, vocabulary), grants, ownership);
          const [asOwn, asOther] = [meets(one, held, true), meets(one, held, false)];
          expect(decision.verdict).toBe(asOwn === asOther ? (asOwn ? 'allowed' : 'denied') : 'delegated');
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('reports nothing as missing that the caller has, and everything that is needed', () => {
    fc.assert(
      fc.property(requirement, fc.uniqueArray(term), (one, held) => {
        const compiledOne = compileRequirement(one, vocabulary);
        const decision = decide(compiledOne, { ...NO_GRANTS, bits: vocabulary.setOf(held) }, 'own');
        fc.pre(decision.verdict === 'denied' && compiledOne.alternatives.length > 0);
        const missing = decision.verdict === 'denied' ? decision.missing : [];
        expect(missing.length).toBeGreaterThan(0);
        const granted = [...held, ...TERMS.filter(({ name }) => missing.includes(name))];
        expect(meets(one, granted, true)).toBe(true);
      }),
    );
  });

  it('contains no redundant alternatives', () => {
    const one: Requirement = {
      any: [
        { all: [{ permission: 'a' }, { permission: 'b' }] },
        { own: { permission: 'a' } },
        { permission: 'a' },
        { permission: 'a' },
      ],
    };
    const { alternatives } = compileRequirement(one, vocabulary);
    expect(alternatives.map(({ names, own }) => [names.map(({ name }) => name), own])).toEqual([[['a'], false]]);
  });

  it('is always met if nothing is required, and never met by an empty any', () => {
    expect(requiresNothing(compileRequirement(undefined, vocabulary))).toBe(true);
    expect(requiresNothing(compileRequirement({ all: [] }, vocabulary))).toBe(true);
    expect(requiresNothing(compileRequirement({ own: { all: [] } }, vocabulary))).toBe(false);
    expect(compileRequirement({ any: [] }, vocabulary).alternatives).toEqual([]);
  });

  it('rejects undeclared names', () => {
    expect(() => compileRequirement({ permission: 'x' }, vocabulary)).toThrow(RangeError);
  });
});
