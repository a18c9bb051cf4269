import { describe, expect, it } from 'vitest';
import { openAlone } from '../../../../src/engine/sharing/alone/open-alone.ts';
import type { Soon } from '../../../../src/engine/sharing/sharing.ts';
import { createTestClock } from '../../../builders/test-clock.ts';
import { sharingContract } from '../../../interfaces/sharing.contract.ts';

describe('a gateway alone', () => {
  sharingContract(async () => {
    const clock = createTestClock();
    const sharing = openAlone(clock);
    return {
      here: sharing,
      there: sharing,
      async passes(ms, condition) {
        if (await condition()) return;
        clock.advance((ms - 1) / 1000);
        expect(await condition()).toBe(false);
        clock.advance(1 / 1000);
        expect(await condition()).toBe(true);
      },
    };
  });

  it('never makes anybody wait', () => {
    const sharing = openAlone(createTestClock());
    const claims = sharing.claims('upload');
    const window = { name: 'pair', texts: ['a'], limit: 1 };
    const results: Soon<unknown>[] = [
      sharing.changes.append({ kind: 'purge', tags: 'all' }),
      sharing.map('page').get('key'),
      sharing.map('page').set('key', Buffer.alloc(0), 1),
      claims.take('key', 1),
      claims.look('key'),
      claims.settle('key', 1),
      sharing.counters('rule', 1).add('key', 1),
      sharing.counters('rule', 1).read('key', 1),
      sharing.windows('logins', 1).add([window], 1),
      sharing.keyedHash('callers').read(),
      sharing.set('demoted').members(),
      sharing.set('demoted').add('one'),
    ];
    expect(results.filter((result) => result instanceof Promise)).toEqual([]);
  });

  it('has nobody to reach, to ask or to miss', async () => {
    const sharing = openAlone(createTestClock());
    expect([sharing.status(), sharing.redis, sharing.changes.canMiss]).toEqual([undefined, undefined, false]);
    expect([sharing.map('page').isShared(), sharing.instances.list()]).toEqual([false, []]);
    const document = sharing.openDocument('text', {} as never);
    expect(await document.sync()).toBe(false);
    await sharing.close();
  });

  // Without bounds, an attacker who invents keys would fill the memory.
  it('counts a limited number of keys, and forgets those that were not used for the longest time', () => {
    const counters = openAlone(createTestClock()).counters('rule', 2);
    for (const key of ['a', 'b', 'a', 'c']) void counters.add(key, 1_000);
    expect([counters.read('a', 1_000), counters.read('b', 1_000)]).toMatchObject([{ count: 3 }, { count: 1 }]);
  });

  // If the clock is set back, nothing must last longer than intended.
  it.each([-1, 1])('ends claims, values and windows when the clock is set by more than their time: %s', (direction) => {
    const clock = createTestClock();
    const sharing = openAlone(clock);
    void sharing.claims('upload').settle('key', 60_000);
    void sharing.map('page').set('key', Buffer.alloc(1), 60_000);
    void sharing.counters('rule', 9).add('key', 60_000);
    clock.advance(direction * 60);
    expect(sharing.claims('upload').look('key')).toBeUndefined();
    expect(sharing.map('page').get('key')).toBeUndefined();
    expect(sharing.counters('rule', 9).add('key', 60_000)).toEqual({ count: 1, leftMs: 60_000 });
  });
});
