import { describe, expect, it } from 'vitest';
import { toAskedPage } from '../../src/paging/asked-page.ts';
import { createKnownTargets, type KnownTarget } from '../../src/pipeline/known-targets.ts';
import { createNext, plannedWith } from '../builders/exchange.ts';

const plan = { ...plannedWith(), stages: [], handle: createNext().handle };
const knownAs = (target: string): KnownTarget => ({
  plan,
  target,
  asked: toAskedPage({ page: undefined, pageSize: undefined, query: new Map() }, target),
  requests: { level: 'enforce', outcome: 'passed' },
});

describe('the memory of targets', () => {
  it('finds a target by its very text', () => {
    const targets = createKnownTargets(10_000);
    const known = knownAs('/a?page=2');
    targets.remember('/qa/a?page=2', known);
    expect(targets.recall('/qa/a?page=2')).toBe(known);
    for (const other of ['/a?page=2', '/qa/a?page=2&', '/qa/A?page=2', '/qa/a?page=%32', '/qa/a?page=22'])
      expect(targets.recall(other)).toBeUndefined();
  });

  it('holds what was found last', () => {
    const targets = createKnownTargets(10_000);
    const known = knownAs('/b');
    targets.remember('/a', knownAs('/a'));
    targets.remember('/a', known);
    expect(targets.recall('/a')).toBe(known);
    expect(targets.size).toBe(1);
  });

  it('stays within its bytes, and forgets what was not asked for the longest time', () => {
    const targets = createKnownTargets(10_000);
    targets.remember('/first', knownAs('/first'));
    for (let number = 0; number < 1000; number += 1) {
      targets.remember(`/${number}`, knownAs(`/${number}`));
      targets.recall('/first');
    }
    expect(targets.recall('/first')).toBeDefined();
    expect(targets.recall('/0')).toBeUndefined();
    expect(targets.recall('/999')).toBeDefined();
    expect(targets.size).toBeLessThanOrEqual(25);
    expect(targets.size).toBeGreaterThan(15);
  });

  it('counts the texts, so that long ones do not add up', () => {
    const targets = createKnownTargets(10_000);
    const long = 'x'.repeat(2000);
    for (let number = 0; number < 10; number += 1) targets.remember(`/${number}${long}`, knownAs(`/${number}${long}`));
    expect(targets.size).toBe(1);
  });

  it('does not hold what is larger than all of it, and may be as small as nothing', () => {
    const targets = createKnownTargets(10_000);
    targets.remember('/a', knownAs(`/${'x'.repeat(20_000)}`));
    expect(targets.recall('/a')).toBeUndefined();
    const none = createKnownTargets(0);
    none.remember('/a', knownAs('/a'));
    expect([none.recall('/a'), none.size]).toEqual([undefined, 0]);
  });
});
