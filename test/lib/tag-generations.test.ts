import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTagGenerations } from '../../src/lib/tag-generations.ts';

describe('tag generations', () => {
  it('distinguish a tag that has moved from one that has not', () => {
    const generations = createTagGenerations();
    const since = generations.current;
    generations.move(['a']);
    expect(generations.unmoved(['a', 'b'], since)).toBe(false);
    expect(generations.unmoved(['b'], since)).toBe(true);
    expect(generations.unmoved(['a'], generations.current)).toBe(true);
  });

  it('move all tags at once', () => {
    const generations = createTagGenerations();
    const since = generations.current;
    generations.moveAll();
    expect(generations.unmoved(['never seen'], since)).toBe(false);
    expect(generations.unmoved([], since)).toBe(false);
  });

  it('have the numbers of changes that are numbered elsewhere', () => {
    const generations = createTagGenerations();
    generations.move(['a'], 7);
    expect([generations.current, generations.unmoved(['a'], 6), generations.unmoved(['b'], 6)]).toEqual([
      7,
      false,
      true,
    ]);
    generations.moveAll(9);
    expect([generations.current, generations.size, generations.unmoved(['b'], 8)]).toEqual([9, 0, false]);
    expect(generations.unmoved(['b'], 9)).toBe(true);
  });

  it('bound their memory and report forgotten tags as moved', () => {
    const generations = createTagGenerations(2);
    const before = generations.current;
    for (const tag of ['a', 'b', 'c', 'd']) generations.move([tag]);
    expect(generations.size).toBe(2);
    expect(generations.unmoved(['a'], before)).toBe(false);
    // A forgotten tag looks like one that never changed, so this tag is also reported as changed.
    expect(generations.unmoved(['z'], before)).toBe(false);
  });

  it('first forget the tag that moved the longest time ago', () => {
    const generations = createTagGenerations(2);
    for (const tag of ['a', 'b']) generations.move([tag]);
    const since = generations.current;
    for (const tag of ['a', 'c']) generations.move([tag]);
    // Tag b changed first, so it was forgotten. If a had been forgotten instead, z would be reported as changed.
    expect(generations.unmoved(['z'], since)).toBe(true);
  });

  it('never report a moved tag as unmoved, whatever was dropped', () => {
    const tag = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const moves = fc.array(fc.array(tag, { maxLength: 3 }), { maxLength: 30 });
    fc.assert(
      fc.property(moves, fc.nat(30), fc.array(tag), fc.integer({ min: 1, max: 4 }), (all, at, asked, maxTags) => {
        const generations = createTagGenerations(maxTags);
        const start = Math.min(at, all.length);
        for (const move of all.slice(0, start)) generations.move(move);
        const since = generations.current;
        for (const move of all.slice(start)) generations.move(move);
        const moved = asked.some((one) => all.slice(start).flat().includes(one));
        expect(generations.size).toBeLessThanOrEqual(maxTags);
        if (moved) expect(generations.unmoved(asked, since)).toBe(false);
        else if (all.slice(start).flat().length === 0) expect(generations.unmoved(asked, since)).toBe(true);
      }),
    );
  });
});
