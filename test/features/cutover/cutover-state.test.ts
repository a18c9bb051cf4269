import { describe, expect, it } from 'vitest';
import {
  type CutoverState,
  type Decision,
  FIRST,
  inForceAt,
  latestOf,
  mergeStates,
  stateFrom,
  stateJson,
} from '../../../src/features/cutover/cutover-state.ts';
import { parseObject } from '../../../src/lib/state-file.ts';

const decision = (more: Partial<Decision>): Decision => ({ ...FIRST, number: 1, reason: 'INC-17', ...more });
const state = (...decisions: Decision[]): CutoverState => ({ server: 'https://qa-new.example.org', decisions });
/** Merges in both directions, which must have the same result. */
const merged = (one: CutoverState, other: CutoverState) => {
  const found = latestOf(mergeStates(one, other));
  expect(latestOf(mergeStates(other, one))).toEqual(found);
  return found;
};

describe('of the decisions of two gateways', () => {
  it('the one that was made with knowledge of the other one counts', () => {
    const returned = decision({ number: 2, phase: 'returned' });
    const resumed = decision({ number: 3 });
    expect(merged(state(returned), state(resumed, returned))).toEqual(resumed);
    // Fifty decisions later, nobody knows the first ones any more.
    const many = Array.from({ length: 50 }, (_, index) => decision({ number: 60 - index }));
    expect(merged(state(returned), state(...many)).number).toBe(60);
  });

  it('made apart from each other, a return is not lost, however many decisions the other one has made', () => {
    const before = decision({ number: 4 });
    const returned = decision({ number: 5, phase: 'returned', at: 900 });
    const more = [decision({ number: 7, shares: { '*': 9 } }), decision({ number: 6 }), decision({ number: 5 })];
    expect(merged(state(returned, before), state(...more, before))).toEqual(returned);
    expect(merged(state(before), state(...more, before)).number).toBe(7);
    expect(merged(state(decision({ number: 8 }), before), state(...more, before)).number).toBe(8);
  });

  it('that say the same, the one that applies earlier counts', () => {
    const one = decision({ phase: 'returned', reason: 'b', appliesAt: 300 });
    const later = decision({ phase: 'returned', reason: 'a', appliesAt: 350 });
    expect(merged(state(one), state(later))).toEqual(one);
  });

  it('made at the same time, the one that moves fewer callers counts', () => {
    const returned = decision({ phase: 'returned', shares: { '*': 90 } });
    const more = decision({ shares: { '*': 60 } });
    const fewer = decision({ shares: { '*': 20 } });
    expect(merged(state(returned), state(more))).toEqual(returned);
    expect(merged(state(decision({ phase: 'frozen' })), state(more)).phase).toBe('frozen');
    expect(merged(state(more), state(fewer))).toEqual(fewer);
  });

  it('that say the same in other words, both gateways choose the same', () => {
    const [mine, theirs] = ['errors: 20 of 20', 'errors: 21 of 22'].map((reason) => decision({ reason }));
    // What has been read has its members in another order than what was decided here.
    const read = (one?: Decision) => state(Object.fromEntries(Object.entries(one ?? {}).toReversed()) as never);
    const here = latestOf(mergeStates(state(mine as Decision), read(theirs)));
    const there = latestOf(mergeStates(state(theirs as Decision), read(mine)));
    expect(here).toEqual(there);
  });
});

describe('a decision', () => {
  it('applies from its instant on, and until then the one before does', () => {
    const [before, next] = [decision({ appliesAt: 100 }), decision({ number: 2, appliesAt: 300 })];
    const both = state(next, before);
    expect([50, 100, 299, 300].map((at) => inForceAt(both, at).number)).toEqual([0, 1, 1, 2]);
  });

  it('is the same after it was stored', () => {
    const one = state(decision({ phase: 'frozen', shares: { '*': 12.5 }, by: 'ann', from: '::1', exceededAt: 7 }));
    expect(stateFrom(parseObject(JSON.stringify(stateJson(one))))).toEqual(one);
  });

  it.each([
    [{ phase: 'gone' }, /phase/],
    [{ number: -1 }, /number/],
    [{ shares: { '*': 101 } }, /percentages/],
    [{ reason: 'password=hunter2secret' }, /reason/],
    [{ at: 'yesterday' }, /instant/],
  ])('is refused if it is wrong: %j', (wrong, message) => {
    const json = stateJson(state(decision({})));
    const given = { ...json, decisions: [{ ...json.decisions[0], ...wrong }] };
    expect(() => stateFrom(given)).toThrow(message);
  });
});
