import type { StoreRefusal } from '../../../src/engine/model/trace.ts';
import { describe, expect, it } from 'vitest';
import type { Validity } from '../../../src/engine/cache/may-store.ts';
import { createPageCache } from '../../../src/engine/cache/memory-pages.ts';
import { bodyFactsOf } from '../../../src/engine/pipeline/body-facts.ts';
import type { Reply } from '../../../src/engine/pipeline/reply.ts';
import { pageCountKey, pageKey } from '../../../src/engine/pipeline/page-key.ts';
import { storePage } from '../../../src/engine/pipeline/store-page.ts';
import {
  type ExchangeParts,
  exchangeWith,
  JSON_TYPE,
  kept,
  pageOf,
  type PlannedParts,
  plannedWith,
  replyWith,
} from '../../builders/exchange.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { bodyOf } from '../../builders/streamed-body.ts';

describe('a page', () => {
  function keeping(reply: Reply, parts: PlannedParts = {}, exchange: ExchangeParts = {}) {
    const clock = createTestClock();
    const cache = createPageCache({ maxBytes: 1 << 20, maxEntryBytes: 1 << 16, gzip: true, zstd: true }, clock);
    const planned = { ...plannedWith(parts), cache: parts.cache ?? kept() };
    const place = { cache, fill: cache.beginFill(['things']), key: 'k', clock };
    const notStored = storePage(planned, exchangeWith(exchange), reply, place);
    return { notStored, cache, entry: cache.lookup('k')?.entry };
  }

  const good = replyWith(pageOf([1, 2]));
  const factsOf = (validity: Validity, json: unknown, parts: PlannedParts = {}) => ({
    facts: { validity, body: bodyFactsOf(plannedWith({ cache: kept(), ...parts }), json) },
  });
  const bad = (json: unknown, parts: PlannedParts = {}) => replyWith(json, factsOf('off', json, parts));

  it('is stored with its tags, its page count and the caller who fetched it', () => {
    const { notStored, entry } = keeping(good);
    expect(notStored).toBeUndefined();
    expect(entry).toMatchObject({
      tags: ['things', 'node:1', 'node:2'],
      pageCount: 3,
      filledBy: 'caller:verified:user:alice',
      validity: 'valid',
      carriesPrivate: false,
    });
  });

  it('has no recorded caller if a service account fetched it, unless the caller was delegated', () => {
    expect(keeping(good, { serviceCredential: true }).entry?.filledBy).toBeUndefined();
    expect(keeping(good, { serviceCredential: true }, { delegated: true }).entry?.filledBy).toBeDefined();
  });

  it('is purged by a write to an item that it contains', () => {
    const { cache } = keeping(good);
    expect(cache.purge(['node:2'])).toBe(1);
  });

  it.each<[string, Reply, StoreRefusal]>([
    ['whose response was not checked', { status: 200, headers: JSON_TYPE, body: good.body }, 'unread'],
    ['that is still streaming', { ...good, body: bodyOf() }, 'unread'],
    ['of another status', { ...good, status: 201 }, 'status'],
    ['of another media type', { ...good, headers: [['Content-Type', 'text/html']] }, 'media-type'],
    ['that sets a cookie', { ...good, headers: [...JSON_TYPE, ['Set-Cookie', 'a=b']] }, 'set-cookie'],
    ['with an error inside', replyWith({ error: 'x', list: [] }), 'error-inside'],
    ['with errors inside', replyWith({ errors: {}, list: [] }), 'error-inside'],
    ['that breaks the contract', { ...good, ...factsOf('violations', pageOf([1])) }, 'validity'],
    ['with an unchecked body of another outer form', bad({ items: [] }), 'outer-form'],
    ['with an unchecked body that is an array', bad([]), 'outer-form'],
    ['with an unchecked body that is null', bad(null), 'outer-form'],
    ['that is too large', { ...good, body: Buffer.alloc(1 << 16) }, 'size'],
  ])('%s is not stored, and the reason is known', (_what, reply, reason) => {
    const { notStored, entry } = keeping(reply);
    expect([notStored, entry]).toEqual([reason, undefined]);
  });

  it.each([
    ['list', { list: [] }, true],
    ['actions', { actions: [] }, true],
    ['actions', { list: [] }, false],
    ['elements', [], true],
    ['elements', { list: [] }, false],
    ['body', { id: 1 }, true],
    ['body', [], false],
  ] as const)('with an unchecked body with items at %s: %j is stored: %s', (itemsAt, json, stored) => {
    const parts: PlannedParts = { operation: { itemsAt } };
    expect(keeping(bad(json, parts), parts).notStored === undefined).toBe(stored);
  });

  it('starts with the age that the upstream reports', () => {
    const { cache } = keeping({ ...good, headers: [...JSON_TYPE, ['Age', '20']] });
    expect(cache.lookup('k')?.ageSeconds).toBe(20);
  });
});

describe('page keys', () => {
  const keys = (parts: ExchangeParts, pageVersion = 'v') => {
    const planned = plannedWith({ pageVersion });
    const exchange = exchangeWith(parts);
    return [pageKey(planned, exchange), pageCountKey(planned, exchange)];
  };
  const base = { target: '/a?page=2&q=x', audience: 'caller:a' };

  describe('the key of a page', () => {
    it('differs by target, audience, operation and page version', () => {
      const [key] = keys(base);
      const others = [
        keys({ ...base, target: '/a?page=3&q=x' })[0],
        keys({ ...base, audience: 'caller:b' })[0],
        keys(base, 'w')[0],
        pageKey(plannedWith({ operation: { id: 'other' } }), exchangeWith(base)),
      ];
      expect(new Set([key, ...others]).size).toBe(5);
    });
  });

  // The attack: one caller requests a page immediately after another caller. If the remembered cache keys were reused,
  // the second caller would receive the first caller's stored page.
  it('are remembered only for the audience that requested the target last', () => {
    const remembered = { audience: undefined, page: undefined, list: undefined };
    const ask = (audience: string) => keys({ ...base, audience, keys: remembered });
    for (const audience of ['caller:a', 'caller:b', 'caller:b', 'caller:a', 'public'])
      expect(ask(audience)).toEqual(keys({ ...base, audience }));
  });

  describe('the key of a page count', () => {
    it('is the same for each page of a list', () => {
      expect(keys({ ...base, target: '/a?page=3&q=x' })[1]).toBe(keys(base)[1]);
      expect(keys({ ...base, target: '/a?q=x' })[1]).toBe(keys(base)[1]);
    });

    it('differs by filter, audience, operation and page version', () => {
      const [, key] = keys(base);
      const others = [
        keys({ ...base, target: '/a?page=2&q=y' })[1],
        keys({ ...base, audience: 'caller:b' })[1],
        keys(base, 'w')[1],
        pageCountKey(plannedWith({ operation: { id: 'other' } }), exchangeWith(base)),
      ];
      expect(new Set([key, ...others]).size).toBe(5);
    });
  });
});
