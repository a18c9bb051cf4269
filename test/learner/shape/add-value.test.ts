import { describe, expect, it } from 'vitest';
import { addValue, type SampleContext } from '../../../src/learner/shape/add-value.ts';
import { emptyShape } from '../../../src/learner/shape/shape.ts';

describe('the shape of a place', () => {
  // The record of known facts can mistake a new fact for a known one. In this context, `isNew` always does so.
  const context: SampleContext = {
    responseNumber: 1,
    complete: true,
    budget: { left: 100, dropped: 0 },
    members: { left: 100 },
    now: 1,
    remember: () => undefined,
    isPersonal: () => false,
    isNew: () => false,
  };

  it.each([
    [null, { nulls: 1 }],
    [true, { booleans: 1 }],
    [0.5, { fractions: 1 }],
    [7, { integers: { seen: 1, wide: 0, negative: 0, instants: 0 } }],
    ['<p>x</p>', { texts: { seen: 1 } }],
    [[], { arrays: { seen: 1 } }],
  ])('counts the first value of a kind even if the memory has no new facts: %j', (value, counts) => {
    const shape = emptyShape();
    for (let times = 0; times < 3; times += 1) addValue(shape, value, { place: 1, item: 1 }, context);
    expect(shape).toMatchObject({ seen: 1, ...counts });
  });

  // The attack: responses with tens of thousands of invented names, each of which took a few microseconds to process.
  it('stops at the limit of undocumented members of one response', () => {
    const members = { left: 100 };
    const names = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`name${at}`, at]));
    const shape = emptyShape();
    const isNew = () => true;
    addValue(
      shape,
      [names, names],
      { place: 1, item: 1 },
      { ...context, members, isNew, budget: { left: 3000, dropped: 0 } },
    );
    const { fields, nameless } = shape.arrays?.items.objects ?? { fields: new Map(), nameless: 0 };
    expect([members.left, fields.size + nameless]).toEqual([0, 100]);
  });

  it('counts the first integer in each range', () => {
    const shape = emptyShape();
    for (const value of [7, 8, -7, 2 ** 33, 2 ** 34, Date.UTC(2026)])
      addValue(shape, value, { place: 1, item: 1 }, context);
    expect(shape.integers).toEqual({ seen: 4, wide: 2, negative: 1, instants: 1 });
  });
});
