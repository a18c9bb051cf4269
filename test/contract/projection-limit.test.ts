import { describe, expect, it } from 'vitest';
import { fieldsBeyond } from '../../src/contract/projection-limit.ts';

const beyond = (includeOnly: readonly string[], item: unknown, max = 100) =>
  fieldsBeyond(includeOnly, 'list', { list: [item] }, max);

describe('fields beyond a projection', () => {
  it('are those that no path names, at each level', () => {
    const item = { id: 1, title: 'x', author: { id: 2, name: 'y' }, topics: [{ id: 3, name: 'z' }] };
    expect(beyond(['id', 'author.id', 'topics.id'], item)).toEqual([
      '/list/0/title',
      '/list/0/author/name',
      '/list/0/topics/0/name',
    ]);
    expect(beyond(['id', 'title', 'author', 'author.id', 'topics.id', 'topics'], item)).toEqual([]);
  });

  /*
   * The attack: `includeOnly=a.a.a…` with as many segments as a target holds. One call per segment overflowed the stack, and
   * each copied the rest of the path. The response of the upstream was lost in a 500.
   */
  it('are found for a path of any number of segments', () => {
    for (const segments of [2500, 1_000_000]) {
      const path = Array.from({ length: segments }, () => 'a').join('.');
      expect(beyond([path, `${path}.b`, 'a'.repeat(2500)], { a: { a: { b: 1 } }, b: 1 })).toEqual([
        '/list/0/a/a/b',
        '/list/0/b',
      ]);
    }
  });

  it('are not looked for beyond the most that are reported, nor without end', () => {
    const item = Object.fromEntries(
      Array.from({ length: 1000 }, (_, at) => [`f${String.fromCodePoint(97 + (at % 26))}${at}`, 1]),
    );
    expect(beyond(['id'], item, 7)).toHaveLength(7);
    let read = 0;
    const endless = new Proxy(Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`key ${at}`, 1])), {
      get: (target, name) => {
        read += 1;
        return Reflect.get(target, name) as unknown;
      },
    });
    expect(beyond(['id'], endless)).toEqual(['/list/0/?']);
    expect(read).toBe(20_000);
  });
});
