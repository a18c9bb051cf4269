import { describe, expect, it } from 'vitest';
import { alignByFacts, type ItemFacts } from '../../src/comparison/align.ts';

const facts = (more: Record<string, string>): ItemFacts =>
  new Map(Object.entries({ type: 'question', wiki: 'false', locked: 'false', score: '7', comments: '0', ...more }));

describe('items without a common id', () => {
  const own = (at: number) => facts({ title: `title ${at}`, body: `body ${at}`, createdAt: String(at) });
  const [stranger, other] = [
    facts({ title: 'the same title', slug: 'the-same-title', body: 'one', createdAt: '100', author: 'a' }),
    facts({ title: 'the same title', slug: 'the-same-title', body: 'two', createdAt: '200', author: 'b' }),
  ];
  const shared = [1, 2, 3, 4].map(own);

  const pairsOf = (a: ItemFacts, b: ItemFacts) =>
    alignByFacts(
      [[4, a]],
      [[4, b]],
      [
        [...shared, a],
        [...shared, b],
      ],
    );

  it('are not the same one because of a common title and what all items of the list share', () => {
    expect(pairsOf(stranger, other)).toEqual([]);
  });

  it('are the same one if most of what is particular to them is equal', () => {
    expect(pairsOf(stranger, new Map([...stranger, ['createdAt', '300']]))).toEqual([[4, 4]]);
  });
});
