import { describe, expect, it } from 'vitest';
import { cacheKey, operationOfKey } from '../../../src/engine/cache/stored-page.ts';
import { createPageCache } from '../../../src/engine/cache/memory-pages.ts';
import { createTestClock } from '../../builders/test-clock.ts';

function cacheWith(...pages: readonly (readonly [operation: string, target: string, tags: readonly string[]])[]) {
  const clock = createTestClock();
  const cache = createPageCache({ maxBytes: 1_000_000, maxEntryBytes: 1_000_000, gzip: false, zstd: false }, clock);
  for (const [operationId, upstreamTarget, tags] of pages) {
    const key = cacheKey({ pageVersion: 'v', operationId, audience: 'caller:alice', upstreamTarget });
    cache.store(key, cache.beginFill(tags), {
      headers: [],
      body: Buffer.alloc(100),
      freshness: { freshSeconds: 30, staleWhileRevalidateSeconds: 0, staleIfErrorSeconds: 300 },
      carriesPrivate: false,
      validity: 'valid',
    });
    clock.advance(10);
  }
  return { cache, clock };
}

describe('the inventory of the cache', () => {
  const pages = [
    ['listQuestions', '/q?q=secret', ['questions', 'node:17']],
    ['listQuestions', '/q?page=2', ['questions', 'node:18']],
    ['listIdeas', '/i', ['ideas', 'node:17']],
  ] as const;

  it('counts pages, bytes and ages by operation and by tag', () => {
    const { cache } = cacheWith(...pages);
    const { operations, tags, ...whole } = cache.inventory({ text: '', limit: 10 });
    expect(whole).toMatchObject({ entries: 3, bytes: cache.stats().bytes, maxBytes: 1_000_000, matchingTags: 4 });
    expect(operations).toMatchObject([
      { operation: 'listQuestions', entries: 2, oldestSeconds: 30, fresh: 1 },
      { operation: 'listIdeas', entries: 1, oldestSeconds: 10, fresh: 1 },
    ]);
    expect(tags.map(({ tag, entries, oldestSeconds }) => [tag, entries, oldestSeconds])).toEqual([
      ['node:17', 2, 30],
      ['questions', 2, 30],
      ['ideas', 1, 10],
      ['node:18', 1, 20],
    ]);
  });

  it('contains the tags with a given text, the most frequent first, up to the limit', () => {
    const { cache } = cacheWith(...pages);
    const { tags, matchingTags } = cache.inventory({ text: 'node:1', limit: 1 });
    expect([tags.map(({ tag }) => tag), matchingTags]).toEqual([['node:17'], 2]);
  });

  it('contains neither targets nor callers', () => {
    const { cache } = cacheWith(...pages);
    expect(JSON.stringify(cache.inventory({ text: '', limit: 100 }))).not.toMatch(/secret|alice/);
  });

  it('does not affect the order of use', () => {
    const clock = createTestClock();
    const cache = createPageCache({ maxBytes: 2_000, maxEntryBytes: 2_000, gzip: false, zstd: false }, clock);
    const store = (key: string) =>
      cache.store(key, cache.beginFill([]), {
        headers: [],
        body: Buffer.alloc(200),
        freshness: { freshSeconds: 30, staleWhileRevalidateSeconds: 0, staleIfErrorSeconds: 0 },
        carriesPrivate: false,
        validity: 'valid',
      });
    for (const key of ['a', 'b']) store(key);
    cache.lookup('a');
    cache.inventory({ text: '', limit: 10 });
    store('c');
    expect([cache.lookup('a'), cache.lookup('b')].map((found) => found !== undefined)).toEqual([true, false]);
  });

  it('finds the operation in a key', () => {
    const parts = { pageVersion: 'v', operationId: 'listIdeas', audience: 'a', upstreamTarget: '/' };
    expect(operationOfKey(cacheKey(parts))).toBe('listIdeas');
    expect(operationOfKey('no key')).toBe('');
  });
});
