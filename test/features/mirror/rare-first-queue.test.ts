import { describe, expect, it } from 'vitest';
import { createRareFirstQueue } from '../../../src/features/mirror/rare-first-queue.ts';

describe('the queue of the mirror', () => {
  const compared: Readonly<Record<string, number>> = { common: 100, rare: 1 };
  const queue = (limits: { exchanges: number; bytes: number }) =>
    createRareFirstQueue<{ operation: string; bytes: number; name: string }>(limits, (name) => compared[name] ?? 0);
  const item = (operation: string, name: string, bytes = 1) => ({ operation, name, bytes });

  it('yields the operations that have been compared least first, and each in order', () => {
    const waiting = queue({ exchanges: 10, bytes: 100 });
    for (const one of [item('common', 'a'), item('rare', 'b'), item('common', 'c'), item('rare', 'd')])
      waiting.add(one);
    const names = Array.from({ length: 5 }, () => waiting.take()?.name);
    expect(names).toEqual(['b', 'd', 'a', 'c', undefined]);
  });

  it('drops the latest of the most frequent operation if it is full', () => {
    const waiting = queue({ exchanges: 2, bytes: 100 });
    waiting.add(item('common', 'a'));
    waiting.add(item('common', 'b'));
    expect(waiting.add(item('rare', 'c'))).toEqual([item('common', 'b')]);
    expect(waiting.add(item('common', 'd'))).toEqual([item('common', 'd')]);
    expect(waiting.size).toBe(2);
  });

  it('is bounded in bytes, too', () => {
    const waiting = queue({ exchanges: 10, bytes: 100 });
    waiting.add(item('common', 'a', 60));
    expect(waiting.add(item('rare', 'b', 60))).toEqual([item('common', 'a', 60)]);
    expect(waiting.add(item('rare', 'c', 200)).map(({ name }) => name)).toEqual(['c']);
    expect(waiting.size).toBe(1);
  });
});
