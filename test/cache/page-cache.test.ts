import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPageCache } from '../../src/cache/page-cache.ts';
import type { StoredPageInput } from '../../src/cache/stored-page.ts';

const limits = { maxBytes: 1_000_000, maxEntryBytes: 100_000, gzip: true };

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

/** What a purge reaches, by the rule's own words. */
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

  it('may be revalidated only while stale, and stands in for a failing upstream until its limit', () => {
    const { cache, time } = cacheAt(1_000_000);
    cache.store('k', cache.beginFill([]), page());
    const seen = [0, 30_000, 60_000].map((ms) => {
      time.now = 1_000_000 + ms;
      const found = cache.lookup('k');
      return [found?.mayRevalidate, found?.mayServeOnError];
    });
    expect(seen).toEqual([
      [false, true],
      [true, true],
      [false, true],
    ]);
  });

  it('is gone once no use of it is left', () => {
    const { cache, time } = cacheAt(1_000_000);
    const freshness = { freshSeconds: 1, staleWhileRevalidateSeconds: 5, staleIfErrorSeconds: 0 };
    cache.store('k', cache.beginFill(['t']), page({ freshness }));
    time.now += 5999;
    expect(cache.lookup('k')).toMatchObject({ state: 'stale', mayServeOnError: false });
    time.now += 1;
    expect(cache.lookup('k')).toBeUndefined();
    expect(cache.stats()).toEqual({ entries: 0, bytes: 0, tags: 0 });
  });

  it('ends although it was stored while the clock read 0', () => {
    const { cache, time } = cacheAt(0);
    cache.store('k', cache.beginFill([]), page());
    expect(cache.lookup('k')?.state).toBe('fresh');
    time.now = 400_000;
    expect(cache.lookup('k')).toBeUndefined();
  });

  it('is dropped when the clock was set back behind its storing', () => {
    const { cache, time } = cacheAt(1_000_000);
    cache.store('k', cache.beginFill([]), page());
    time.now -= 1;
    expect(cache.lookup('k')).toBeUndefined();
  });

  it("tells its age in whole seconds, the upstream's own included, and the seconds left", () => {
    const { cache, time } = cacheAt(1_000_000);
    cache.store('k', cache.beginFill([]), page({ ageSeconds: 4 }));
    time.now += 2500;
    expect(cache.lookup('k')).toMatchObject({ ageSeconds: 6, ttlSeconds: 27 });
  });

  it('is frozen, and its body is a copy of its own', () => {
    const { cache } = cacheAt(1_000_000);
    const body = Buffer.from('{"list":[]}');
    cache.store('k', cache.beginFill(['t']), page({ body }));
    body.fill(0x20);
    const entry = cache.lookup('k')?.entry;
    expect(entry?.body.toString()).toBe('{"list":[]}');
    expect(entry?.body.buffer.byteLength).toBe(11);
    const parts = [entry, entry?.headers, entry?.headers[0], entry?.tags];
    expect(parts.map((part) => Object.isFrozen(part))).toEqual([true, true, true, true]);
  });

  it('never keeps Set-Cookie', () => {
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
  it('is thrown away when one of its tags has been purged since it began', () => {
    const { cache } = cacheAt(1_000_000);
    const fill = cache.beginFill(['questions', 'ideas']);
    cache.purge(['ideas']);
    expect(cache.store('k', fill, page())).toBe(false);
    expect(cache.lookup('k')).toBeUndefined();
  });

  it('is thrown away when a node that it turns out to show has been purged since it began', () => {
    const { cache } = cacheAt(1_000_000);
    const fill = cache.beginFill(['questions']);
    cache.purge(['node:5']);
    expect(cache.store('k', fill, page({ tags: ['node:5'] }))).toBe(false);
  });

  it('is kept when only other tags have been purged', () => {
    const { cache } = cacheAt(1_000_000);
    const fill = cache.beginFill(['questions']);
    cache.purge(['ideas', 'node:6']);
    expect(cache.store('k', fill, page({ tags: ['node:5'] }))).toBe(true);
  });

  it('is thrown away when everything has been purged since it began', () => {
    const { cache } = cacheAt(1_000_000);
    const fill = cache.beginFill([]);
    cache.purgeAll();
    expect(cache.store('k', fill, page())).toBe(false);
  });

  it('is thrown away when it shows nodes of unknown ids and any node has been purged, and the other way round', () => {
    const { cache } = cacheAt(1_000_000);
    const first = cache.beginFill([]);
    cache.purge(['node:5']);
    expect(cache.store('k', first, page({ tags: ['node:*'] }))).toBe(false);
    const second = cache.beginFill([]);
    cache.purge(['node:*']);
    expect(cache.store('k', second, page({ tags: ['node:5'] }))).toBe(false);
  });

  it('does not replace what a later fill has brought already', () => {
    const { cache } = cacheAt(1_000_000);
    const slow = cache.beginFill([]);
    const quick = cache.beginFill([]);
    expect(cache.store('k', quick, page({ body: Buffer.from('new') }))).toBe(true);
    expect(cache.store('k', slow, page({ body: Buffer.from('old') }))).toBe(false);
    expect(cache.lookup('k')?.entry.body.toString()).toBe('new');
  });

  it('is refused when its page is too large, and the page already there stays', () => {
    const { cache } = cacheAt(1_000_000);
    cache.store('k', cache.beginFill([]), page());
    expect(cache.store('k', cache.beginFill([]), page({ body: Buffer.alloc(100_001) }))).toBe(false);
    expect(cache.lookup('k')?.entry.body.length).toBe(11);
  });

  it('is refused when its page is larger than the whole cache', () => {
    const { cache } = cacheAt(1_000_000, { maxBytes: 1000, maxEntryBytes: 100_000, gzip: true });
    expect(cache.store('k', cache.beginFill([]), page({ body: Buffer.alloc(2000) }))).toBe(false);
    expect(cache.stats().entries).toBe(0);
  });
});

describe('a purge', () => {
  it('removes the pages that carry a tag, tells how many, and leaves the others', () => {
    const { cache } = cacheAt(1_000_000);
    cache.store('a', cache.beginFill(['questions']), page({ tags: ['node:5'] }));
    cache.store('b', cache.beginFill(['questions']), page({ tags: ['node:6'] }));
    cache.store('c', cache.beginFill(['ideas']), page());
    expect(cache.purge(['node:5', 'questions'])).toBe(2);
    expect([cache.lookup('a'), cache.lookup('b')]).toEqual([undefined, undefined]);
    expect(cache.lookup('c')?.state).toBe('fresh');
  });

  it('reaches pages that may show the node without naming it', () => {
    const { cache } = cacheAt(1_000_000);
    cache.store('a', cache.beginFill([]), page({ tags: ['node:*'] }));
    expect(cache.purge(['node:5'])).toBe(1);
  });

  it('of a whole kind reaches every page of that kind', () => {
    const { cache } = cacheAt(1_000_000);
    cache.store('a', cache.beginFill([]), page({ tags: ['node:5'] }));
    cache.store('b', cache.beginFill([]), page({ tags: ['user:5'] }));
    expect(cache.purge(['node:*'])).toBe(1);
    expect(cache.lookup('b')?.state).toBe('fresh');
  });

  it('of everything leaves nothing', () => {
    const { cache } = cacheAt(1_000_000);
    cache.store('a', cache.beginFill(['t']), page());
    expect(cache.purgeAll()).toBe(1);
    expect(cache.stats()).toEqual({ entries: 0, bytes: 0, tags: 0 });
  });

  it('moves the generation, so that nobody joins a fetch that began before it', () => {
    const { cache } = cacheAt(1_000_000);
    const before = cache.generation();
    cache.purge(['t']);
    const between = cache.generation();
    cache.purgeAll();
    expect(new Set([before, between, cache.generation()]).size).toBe(3);
  });
});

describe('the page cache', () => {
  it('stays within its bytes, giving up what was used longest ago, tags and all', () => {
    const { cache } = cacheAt(1_000_000, { maxBytes: 10_000, maxEntryBytes: 10_000, gzip: true });
    for (let index = 0; index < 50; index += 1) {
      cache.store(`k${index}`, cache.beginFill([`t:${index}`]), page({ body: Buffer.alloc(1000) }));
      cache.lookup('k0');
    }
    expect(cache.stats().bytes).toBeLessThanOrEqual(10_000);
    expect(cache.lookup('k0')).toBeDefined();
    expect(cache.lookup('k1')).toBeUndefined();
    // Each page carries its own tag and the mark of its kind, which they share.
    expect(cache.stats().tags).toBe(cache.stats().entries + 1);
  });

  it('counts what tags and fields take beside the body', () => {
    const { cache } = cacheAt(1_000_000);
    cache.store('k', cache.beginFill([]), page({ headers: [] }));
    const { bytes } = cache.stats();
    cache.store('k', cache.beginFill([]), page({ headers: [], tags: ['a', 'b'] }));
    const withTags = cache.stats().bytes;
    cache.store('k', cache.beginFill([]), page({ tags: ['a', 'b'] }));
    expect(withTags - bytes).toBeGreaterThan(100);
    expect(cache.stats().bytes - withTags).toBeGreaterThan('Content-Typeapplication/json'.length);
  });

  it('keeps a stale page whose refresh has failed', () => {
    const { cache, time } = cacheAt(1_000_000);
    cache.store('k', cache.beginFill([]), page());
    time.now += 40_000;
    cache.beginFill([]);
    expect(cache.lookup('k')).toMatchObject({ state: 'stale', mayServeOnError: true });
  });

  it('forgets the tags of a page that is replaced by one with others', () => {
    const { cache } = cacheAt(1_000_000);
    cache.store('k', cache.beginFill([]), page({ tags: ['a'] }));
    cache.store('k', cache.beginFill([]), page({ tags: ['b'] }));
    expect(cache.stats()).toMatchObject({ entries: 1, tags: 1 });
    expect(cache.purge(['a'])).toBe(0);
    expect(cache.purge(['b'])).toBe(1);
  });

  it('never shows a page that carries a tag purged after its fill began', () => {
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
