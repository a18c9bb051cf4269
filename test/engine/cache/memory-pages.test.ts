import { setImmediate as turn } from 'node:timers/promises';
import { gunzipSync, gzipSync, zstdDecompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Compress, createPageCache, type PageCache } from '../../../src/engine/cache/memory-pages.ts';
import type { Coding } from '../../../src/engine/cache/representation.ts';
import type { StoredPageInput } from '../../../src/engine/cache/stored-page.ts';

const limits = { maxBytes: 1_000_000, maxEntryBytes: 100_000, gzip: true, zstd: true };

const page = (changes: Partial<StoredPageInput> = {}): StoredPageInput => ({
  headers: [['Content-Type', 'application/json']],
  body: Buffer.from('{"list":[]}'),
  freshness: { freshSeconds: 30, staleWhileRevalidateSeconds: 30, staleIfErrorSeconds: 300 },
  carriesPrivate: false,
  validity: 'valid',
  ...changes,
});

function cacheAt(startAt: number, bounds = limits) {
  const time = { now: startAt };
  return { time, cache: createPageCache(bounds, () => time.now) };
}

/**
 * Returns whether purging the first tag affects a page that has the second tag. The rule is implemented a second time
 * here, independently of the cache.
 */
const meets = (purged: string, carried: string) =>
  purged === carried ||
  (purged.startsWith('node:') && carried === 'node:*') ||
  (purged === 'node:*' && carried.startsWith('node:'));

describe('a stored page', () => {
  it.each([
    [0, 'fresh'],
    [29_999, 'fresh'],
    [30_000, 'stale'],
    [59_999, 'stale'],
    [60_000, 'expired'],
    [329_999, 'expired'],
    [330_000, undefined],
  ])('is, after %i ms, %s', (ms, state) => {
    const { cache, time } = cacheAt(1_000_000);
    cache.store('k', cache.beginFill([]), page());
    time.now += ms;
    expect(cache.lookup('k')?.state).toBe(state);
  });

  it('may be revalidated only while stale, and serves for a failing upstream until its limit', () => {
    const { cache, time } = cacheAt(1_000_000);
    cache.store('k', cache.beginFill([]), page());
    const seen = [0, 30_000, 60_000].map((ms) => {
      time.now = 1_000_000 + ms;
      const found = cache.lookup('k');
      return [found?.state, found?.mayServeOnError];
    });
    expect(seen).toEqual([
      ['fresh', true],
      ['stale', true],
      ['expired', true],
    ]);
  });

  it('is removed when it can no longer be used', () => {
    const { cache, time } = cacheAt(1_000_000);
    const freshness = { freshSeconds: 1, staleWhileRevalidateSeconds: 5, staleIfErrorSeconds: 0 };
    cache.store('k', cache.beginFill(['t']), page({ freshness }));
    time.now += 5999;
    expect(cache.lookup('k')).toMatchObject({ state: 'stale', mayServeOnError: false });
    time.now += 1;
    expect(cache.lookup('k')).toBeUndefined();
    expect(cache.stats()).toEqual({ entries: 0, bytes: 0, tags: 0 });
  });

  it('expires even if it was stored when the clock was at 0', () => {
    const { cache, time } = cacheAt(0);
    cache.store('k', cache.beginFill([]), page());
    expect(cache.lookup('k')?.state).toBe('fresh');
    time.now = 400_000;
    expect(cache.lookup('k')).toBeUndefined();
  });

  it('is removed if the clock was set back to before it was stored', () => {
    const { cache, time } = cacheAt(1_000_000);
    cache.store('k', cache.beginFill([]), page());
    time.now -= 1;
    expect(cache.lookupStale('k', 3600)).toBeUndefined();
    expect(cache.lookup('k')).toBeUndefined();
  });

  it('has an age in whole seconds, including that of the upstream, and the remaining seconds', () => {
    const { cache, time } = cacheAt(1_000_000);
    cache.store('k', cache.beginFill([]), page({ ageSeconds: 4 }));
    time.now += 2500;
    expect(cache.lookup('k')).toMatchObject({ ageSeconds: 6, ttlSeconds: 27 });
  });

  it('is frozen and has its own copy of the body', () => {
    const { cache } = cacheAt(1_000_000);
    const body = Buffer.from('{"list":[]}'.padEnd(2000)).subarray(0, 11);
    cache.store('k', cache.beginFill(['t']), page({ body }));
    body.fill(0x20);
    const entry = cache.lookup('k')?.entry;
    expect(entry?.body.toString()).toBe('{"list":[]}');
    expect(entry?.body.buffer.byteLength).toBe(11);
    const parts = [entry, entry?.headers, entry?.headers[0], entry?.tags];
    expect(parts.map((part) => Object.isFrozen(part))).toEqual([true, true, true, true]);
  });

  it('shares its frozen headers only with pages that have the same ones', () => {
    const { cache } = cacheAt(1_000_000);
    const headersOf = (key: string, link: string) => {
      const headers = [['Content-Type', 'application/json'] as const, ['Link', link] as const];
      cache.store(key, cache.beginFill([]), page({ headers }));
      return cache.lookup(key)?.entry.headers;
    };
    const first = headersOf('a', '</1>');
    expect(headersOf('b', '</1>')).toBe(first);
    expect(headersOf('c', '</2>')).toEqual([
      ['Content-Type', 'application/json'],
      ['Link', '</2>'],
    ]);
    expect(first?.[1]).toEqual(['Link', '</1>']);
  });

  it('never contains Set-Cookie', () => {
    const { cache } = cacheAt(1_000_000);
    const headers = [
      ['Set-Cookie', 'a=b'],
      ['Content-Type', 'application/json'],
    ] as const;
    cache.store('k', cache.beginFill([]), page({ headers }));
    expect(cache.lookup('k')?.entry.headers).toEqual([['Content-Type', 'application/json']]);
  });
});

describe('a fill', () => {
  it('is discarded if one of its tags was purged since it began', () => {
    const { cache } = cacheAt(1_000_000);
    const fill = cache.beginFill(['questions', 'ideas']);
    cache.purge(['ideas']);
    expect(cache.store('k', fill, page())).toBe('purged');
    expect(cache.lookup('k')).toBeUndefined();
  });

  it('is discarded if a node on its page was purged since it began', () => {
    const { cache } = cacheAt(1_000_000);
    const fill = cache.beginFill(['questions']);
    cache.purge(['node:5']);
    expect(cache.store('k', fill, page({ tags: ['node:5'] }))).toBe('purged');
  });

  it('is stored if only other tags were purged', () => {
    const { cache } = cacheAt(1_000_000);
    const fill = cache.beginFill(['questions']);
    cache.purge(['ideas', 'node:6']);
    expect(cache.store('k', fill, page({ tags: ['node:5'] }))).toBeUndefined();
  });

  it('is discarded if everything was purged since it began', () => {
    const { cache } = cacheAt(1_000_000);
    const fill = cache.beginFill([]);
    cache.purgeAll();
    expect(cache.store('k', fill, page())).toBe('purged');
  });

  it('is discarded if it shows nodes with unknown ids and any node was purged, and vice versa', () => {
    const { cache } = cacheAt(1_000_000);
    const first = cache.beginFill([]);
    cache.purge(['node:5']);
    expect(cache.store('k', first, page({ tags: ['node:*'] }))).toBe('purged');
    const second = cache.beginFill([]);
    cache.purge(['node:*']);
    expect(cache.store('k', second, page({ tags: ['node:5'] }))).toBe('purged');
  });

  it('does not replace the page of a later fill', () => {
    const { cache } = cacheAt(1_000_000);
    const slow = cache.beginFill([]);
    const quick = cache.beginFill([]);
    expect(cache.store('k', quick, page({ body: Buffer.from('new') }))).toBeUndefined();
    expect(cache.store('k', slow, page({ body: Buffer.from('old') }))).toBe('superseded');
    expect(cache.lookup('k')?.entry.body.toString()).toBe('new');
  });

  it('is rejected if its page is too large, and the existing page remains', () => {
    const { cache } = cacheAt(1_000_000);
    cache.store('k', cache.beginFill([]), page());
    expect(cache.store('k', cache.beginFill([]), page({ body: Buffer.alloc(100_001) }))).toBe('size');
    expect(cache.lookup('k')?.entry.body.length).toBe(11);
  });

  it('is rejected if its page is larger than the whole cache', () => {
    const { cache } = cacheAt(1_000_000, { maxBytes: 1000, maxEntryBytes: 100_000, gzip: true, zstd: true });
    expect(cache.store('k', cache.beginFill([]), page({ body: Buffer.alloc(2000) }))).toBe('size');
    expect(cache.stats().entries).toBe(0);
  });
});

describe('a purge', () => {
  it('removes the pages with a tag, returns their number, and leaves the others', () => {
    const { cache } = cacheAt(1_000_000);
    cache.store('a', cache.beginFill(['questions']), page({ tags: ['node:5'] }));
    cache.store('b', cache.beginFill(['questions']), page({ tags: ['node:6'] }));
    cache.store('c', cache.beginFill(['ideas']), page());
    expect(cache.purge(['node:5', 'questions'])).toBe(2);
    expect([cache.lookup('a'), cache.lookup('b')]).toEqual([undefined, undefined]);
    expect(cache.lookup('c')?.state).toBe('fresh');
  });

  it('affects pages that may show the node without naming it', () => {
    const { cache } = cacheAt(1_000_000);
    cache.store('a', cache.beginFill([]), page({ tags: ['node:*'] }));
    expect(cache.purge(['node:5'])).toBe(1);
  });

  it('of a whole kind affects every page of that kind', () => {
    const { cache } = cacheAt(1_000_000);
    cache.store('a', cache.beginFill([]), page({ tags: ['node:5'] }));
    cache.store('b', cache.beginFill([]), page({ tags: ['user:5'] }));
    expect(cache.purge(['node:*'])).toBe(1);
    expect(cache.lookup('b')?.state).toBe('fresh');
  });

  it('of everything empties the cache', () => {
    const { cache } = cacheAt(1_000_000);
    cache.store('a', cache.beginFill(['t']), page());
    expect(cache.purgeAll()).toBe(1);
    expect(cache.stats()).toEqual({ entries: 0, bytes: 0, tags: 0 });
  });

  it('increases the generation, so that no request joins an earlier fetch', () => {
    const { cache } = cacheAt(1_000_000);
    const before = cache.generation();
    cache.purge(['t']);
    const between = cache.generation();
    cache.purgeAll();
    expect(new Set([before, between, cache.generation()]).size).toBe(3);
  });
});

describe('the page cache', () => {
  it('stays within its size and evicts the least recently used pages with their tags', () => {
    const { cache } = cacheAt(1_000_000, { maxBytes: 10_000, maxEntryBytes: 10_000, gzip: true, zstd: true });
    for (let index = 0; index < 50; index += 1) {
      cache.store(`k${index}`, cache.beginFill([`t:${index}`]), page({ body: Buffer.alloc(1000) }));
      cache.lookup('k0');
    }
    expect(cache.stats().bytes).toBeLessThanOrEqual(10_000);
    expect(cache.lookup('k0')).toBeDefined();
    expect(cache.lookup('k1')).toBeUndefined();
    // Each page has its own tag.
    expect(cache.stats().tags).toBe(cache.stats().entries);
  });

  it('includes tags and headers in its size', () => {
    const { cache } = cacheAt(1_000_000);
    cache.store('k', cache.beginFill([]), page({ headers: [] }));
    const { bytes } = cache.stats();
    cache.store('k', cache.beginFill([]), page({ headers: [], tags: ['a', 'b'] }));
    const withTags = cache.stats().bytes;
    cache.store('k', cache.beginFill([]), page({ tags: ['a', 'b'] }));
    expect(withTags - bytes).toBeGreaterThan(100);
    expect(cache.stats().bytes - withTags).toBeGreaterThan('Content-Typeapplication/json'.length);
  });

  it('retains a stale page after a failed refresh', () => {
    const { cache, time } = cacheAt(1_000_000);
    cache.store('k', cache.beginFill([]), page());
    time.now += 40_000;
    cache.beginFill([]);
    expect(cache.lookup('k')).toMatchObject({ state: 'stale', mayServeOnError: true });
  });

  it('removes the tags of a page that is replaced', () => {
    const { cache } = cacheAt(1_000_000);
    cache.store('k', cache.beginFill([]), page({ tags: ['a'] }));
    cache.store('k', cache.beginFill([]), page({ tags: ['b'] }));
    expect(cache.stats()).toMatchObject({ entries: 1, tags: 1 });
    expect(cache.purge(['a'])).toBe(0);
    expect(cache.purge(['b'])).toBe(1);
  });

  it('never returns a page with a tag that was purged after its fill began', () => {
    const tag = fc.constantFrom('questions', 'ideas', 'node:1', 'node:2', 'node:*');
    const step = fc.oneof(
      fc.record({ kind: fc.constant('begin' as const), key: fc.constantFrom('a', 'b') }),
      fc.record({ kind: fc.constant('store' as const), which: fc.nat(5), tags: fc.array(tag, { maxLength: 3 }) }),
      fc.record({ kind: fc.constant('purge' as const), tags: fc.array(tag, { minLength: 1, maxLength: 2 }) }),
      fc.record({ kind: fc.constant('purgeAll' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { cache } = cacheAt(1_000_000);
        const fills: { key: string; fill: ReturnType<typeof cache.beginFill>; begunAt: number }[] = [];
        const purges: { at: number; tags: readonly string[] | 'all' }[] = [];
        steps.forEach((action, at) => {
          if (action.kind === 'begin') fills.push({ key: action.key, fill: cache.beginFill([]), begunAt: at });
          else if (action.kind === 'purge') {
            cache.purge(action.tags);
            purges.push({ at, tags: action.tags });
          } else if (action.kind === 'purgeAll') {
            cache.purgeAll();
            purges.push({ at, tags: 'all' });
          } else {
            const chosen = fills[action.which];
            if (chosen === undefined) return;
            const body = Buffer.from(String(chosen.begunAt));
            cache.store(chosen.key, chosen.fill, page({ body, tags: action.tags }));
          }
          for (const key of ['a', 'b']) {
            const entry = cache.lookup(key)?.entry;
            if (entry === undefined) continue;
            const begunAt = Number(entry.body.toString());
            const spoiled = purges.some(
              (purge) =>
                purge.at > begunAt &&
                (purge.tags === 'all' ||
                  purge.tags.some((purged) => entry.tags.some((carried) => meets(purged, carried)))),
            );
            expect(spoiled).toBe(false);
          }
        });
      }),
    );
  });
});

const TEXT = Buffer.from(`{"list":["${'long '.repeat(400)}"]}`);

/** Creates a cache whose compression jobs finish only when the test lets them. */
function compressing(bounds = limits) {
  const begun: { readonly body: Buffer; readonly coding: Coding; readonly end: (bytes?: Buffer) => Promise<void> }[] =
    [];
  const compress: Compress = (body, coding) => {
    const { promise, resolve } = Promise.withResolvers<Buffer>();
    const end = async (bytes: Buffer = gzipSync(body)) => {
      resolve(bytes);
      await turn();
    };
    begun.push({ body, coding, end });
    return promise;
  };
  const time = { now: 1_000_000 };
  const cache = createPageCache(bounds, () => time.now, compress);
  return { cache, begun, time };
}

/** Returns the gzip form of a stored page. */
const gzipOf = (cache: PageCache, key: string, body: Buffer) => cache.coded(key, body, ['gzip'])?.bytes;

/** Stores a page and returns the stored buffer. */
function keep(cache: PageCache, key = 'k', body = TEXT, tags: readonly string[] = []): Buffer {
  expect(cache.store(key, cache.beginFill(tags), page({ body }))).toBeUndefined();
  const kept = cache.lookup(key)?.entry.body;
  if (kept === undefined) throw new Error('not kept');
  return kept;
}

describe('the forms of a stored page in several content codings', () => {
  const decode = { gzip: gunzipSync, zstd: zstdDecompressSync };

  it.each([
    [['zstd', 'gzip'], 'zstd'],
    [['gzip', 'zstd'], 'gzip'],
  ] as const)('are made as clients prefer them: %j', async (codings, coding) => {
    const cache = createPageCache(limits, () => 1);
    const body = keep(cache);
    while (cache.coded('k', body, codings) === undefined) await turn();
    const form = cache.coded('k', body, codings);
    expect(form?.coding).toBe(coding);
    expect(decode[coding](form?.bytes ?? '')).toEqual(body);
  });

  it('are stored beside each other, and both count toward the size of the cache', async () => {
    const { cache, begun } = compressing();
    const body = keep(cache);
    for (const coding of ['zstd', 'gzip'] as const) cache.coded('k', body, [coding]);
    expect(begun.map(({ coding }) => coding)).toEqual(['zstd', 'gzip']);
    const before = cache.stats().bytes;
    await begun[0]?.end(Buffer.alloc(100, 'z'));
    await begun[1]?.end(Buffer.alloc(200, 'g'));
    expect(cache.stats().bytes - before).toBe(300);
    expect(cache.coded('k', body, ['zstd'])?.bytes).toHaveLength(100);
    expect(cache.coded('k', body, ['gzip'])?.bytes).toHaveLength(200);
    expect(begun).toHaveLength(2);
  });

  it('are made only in codings that are on', () => {
    const { cache, begun } = compressing({ ...limits, zstd: false });
    const body = keep(cache);
    cache.coded('k', body, ['zstd']);
    cache.coded('k', body, ['zstd', 'gzip']);
    expect(begun.map(({ coding }) => coding)).toEqual(['gzip']);
  });
});

describe('the gzip form of a stored page', () => {
  it('is created once, regardless of the number of requests before and after', async () => {
    const { cache, begun } = compressing();
    const body = keep(cache);
    for (let times = 0; times < 5; times += 1) expect(gzipOf(cache, 'k', body)).toBeUndefined();
    expect(begun).toHaveLength(1);
    await begun[0]?.end();
    const forms = Array.from({ length: 5 }, () => gzipOf(cache, 'k', body));
    expect(gunzipSync(forms[0] ?? '').equals(TEXT)).toBe(true);
    expect(new Set(forms).size).toBe(1);
    expect(begun).toHaveLength(1);
  });

  it('is created from the stored body by the default compressor', async () => {
    const { cache } = cacheAt(1_000_000);
    const body = keep(cache);
    gzipOf(cache, 'k', body);
    while (gzipOf(cache, 'k', body) === undefined) await turn();
    expect(gunzipSync(gzipOf(cache, 'k', body) ?? '').equals(body)).toBe(true);
  });

  it('is returned only for the stored buffer, not for an equal one or a part of it', async () => {
    const { cache, begun } = compressing();
    const body = keep(cache);
    gzipOf(cache, 'k', body);
    await begun[0]?.end();
    for (const other of [Buffer.from(body), body.subarray(0, 1500), TEXT])
      expect(gzipOf(cache, 'k', other)).toBeUndefined();
    expect(gzipOf(cache, 'other', body)).toBeUndefined();
    expect(begun).toHaveLength(1);
    expect(gzipOf(cache, 'k', body)).toBeDefined();
  });

  it.each([
    ['the body is small', Buffer.alloc(1023, 0x20), limits],
    ['it is switched off', TEXT, { ...limits, gzip: false, zstd: true }],
  ])('is not created if %s', (_why, text, bounds) => {
    const { cache, begun } = compressing(bounds);
    const body = keep(cache, 'k', text);
    expect(gzipOf(cache, 'k', body)).toBeUndefined();
    expect(begun).toEqual([]);
  });

  it('is created for a body of the minimum size', () => {
    const { cache, begun } = compressing();
    gzipOf(cache, 'k', keep(cache, 'k', Buffer.alloc(1024, 0x20)));
    expect(begun).toHaveLength(1);
  });

  it.each([
    ['is as long', TEXT.length],
    ['is longer', TEXT.length + 20],
  ])('is not stored if it %s, and not tried again', async (_how, length) => {
    const { cache, begun } = compressing();
    const body = keep(cache);
    const before = cache.stats();
    gzipOf(cache, 'k', body);
    await begun[0]?.end(Buffer.alloc(length));
    expect(gzipOf(cache, 'k', body)).toBeUndefined();
    expect(begun).toHaveLength(1);
    expect(cache.stats()).toEqual(before);
  });

  it('leaves the page unchanged if compression fails', async () => {
    let tried = 0;
    const compress: Compress = () => {
      tried += 1;
      return Promise.reject(new Error('no memory'));
    };
    const cache = createPageCache(limits, () => 1_000_000, compress);
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const body = keep(cache, key);
      expect(gzipOf(cache, key, body)).toBeUndefined();
      await turn();
      expect(gzipOf(cache, key, body)).toBeUndefined();
      expect(cache.lookup(key)?.entry.body).toBe(body);
    }
    expect(tried).toBe(6);
  });

  it('counts towards the size of the cache and is removed with its page', async () => {
    const { cache, begun } = compressing();
    const body = keep(cache, 'k', TEXT, ['t']);
    const before = cache.stats();
    gzipOf(cache, 'k', body);
    await begun[0]?.end();
    const form = gzipOf(cache, 'k', body);
    expect(cache.stats()).toEqual({ ...before, bytes: before.bytes + (form?.length ?? 0) });
    expect(cache.purge(['t'])).toBe(1);
    expect(cache.stats()).toEqual({ entries: 0, bytes: 0, tags: 0 });
    expect(gzipOf(cache, 'k', body)).toBeUndefined();
  });

  it('does not change the tags, the fill order and the freshness of the page', async () => {
    const { cache, begun, time } = compressing();
    const slow = cache.beginFill(['t']);
    const body = keep(cache, 'k', TEXT, ['t']);
    gzipOf(cache, 'k', body);
    time.now += 10_000;
    await begun[0]?.end();
    expect(cache.store('k', slow, page({ body: Buffer.from('old') }))).toBe('superseded');
    expect(cache.lookup('k')).toMatchObject({ ageSeconds: 10, state: 'fresh' });
    expect(cache.purge(['t'])).toBe(1);
  });

  it('is discarded if the page was replaced in the meantime', async () => {
    const { cache, begun } = compressing();
    const old = keep(cache);
    gzipOf(cache, 'k', old);
    const fresh = keep(cache, 'k', Buffer.from(TEXT.toString().replace('long', 'LONG')));
    await begun[0]?.end();
    expect([gzipOf(cache, 'k', old), gzipOf(cache, 'k', fresh)]).toEqual([undefined, undefined]);
    expect(begun).toHaveLength(2);
    await begun[1]?.end();
    expect(gunzipSync(gzipOf(cache, 'k', fresh) ?? '').equals(fresh)).toBe(true);
    expect(gzipOf(cache, 'k', old)).toBeUndefined();
  });

  it.each([
    ['purged', (cache: PageCache) => cache.purge(['t'])],
    ['dropped', (cache: PageCache) => cache.drop('k')],
    ['purged with all others', (cache: PageCache) => cache.purgeAll()],
  ])('does not restore a page that was %s in the meantime', async (_how, remove) => {
    const { cache, begun } = compressing();
    gzipOf(cache, 'k', keep(cache, 'k', TEXT, ['t']));
    remove(cache);
    await begun[0]?.end();
    expect(cache.lookup('k')).toBeUndefined();
    expect(cache.stats()).toEqual({ entries: 0, bytes: 0, tags: 0 });
  });

  it('is not stored if the entry would exceed the limit', async () => {
    const { cache, begun } = compressing({ ...limits, maxEntryBytes: 3000 });
    const body = keep(cache);
    gzipOf(cache, 'k', body);
    await begun[0]?.end(Buffer.alloc(1500));
    expect(gzipOf(cache, 'k', body)).toBeUndefined();
    expect(cache.lookup('k')?.entry.body).toBe(body);
  });

  it('does not exceed the size of the cache', async () => {
    const { cache, begun } = compressing({ maxBytes: 12_000, maxEntryBytes: 12_000, gzip: true, zstd: true });
    const bodies = ['a', 'b', 'c', 'd'].map((key) => [key, keep(cache, key)] as const);
    for (const [key, body] of bodies) gzipOf(cache, key, body);
    for (const { end } of begun) await end(Buffer.alloc(1500));
    expect(cache.stats().bytes).toBeLessThanOrEqual(12_000);
    expect(cache.stats().entries).toBe(2);
  });

  it('is created for four pages at a time; others wait for their next request', async () => {
    const { cache, begun } = compressing();
    const bodies = ['a', 'b', 'c', 'd', 'e'].map((key) => [key, keep(cache, key)] as const);
    for (const [key, body] of bodies) gzipOf(cache, key, body);
    expect(begun).toHaveLength(4);
    for (const [key, body] of bodies) gzipOf(cache, key, body);
    expect(begun).toHaveLength(4);
    await begun[0]?.end();
    for (const [key, body] of bodies) gzipOf(cache, key, body);
    expect(begun.map(({ body }) => body)).toEqual(bodies.map(([, body]) => body));
  });
});
