import { describe, expect, it } from 'vitest';
import { createChangeFollower } from '../../src/cache/change-follower.ts';
import type { PageStore } from '../../src/cache/page-store.ts';
import { createSharedPages } from '../../src/cache/shared-pages.ts';
import { cacheKey, toStoredPage } from '../../src/cache/stored-page.ts';

const LINEAGE = { lineage: 'one', number: 0 };

/** Creates a store in memory. `afterGet` runs once, after the next lookup has read its value. */
function memoryStore(): PageStore & { afterGet?: (() => Promise<void>) | undefined; lookups: number } {
  const values = new Map<string, Buffer>();
  const locks = new Map<string, string>();
  const listeners: ((hash: string, stored: boolean) => void)[] = [];
  return {
    lookups: 0,
    isAvailable: () => true,
    async get(hash) {
      this.lookups += 1;
      const value = values.get(hash);
      const after = this.afterGet;
      this.afterGet = undefined;
      await after?.();
      return value;
    },
    set: async (hash, value) => void values.set(hash, value),
    drop: async (hash) => void values.delete(hash),
    async lock(hash, token) {
      if (locks.has(hash)) return false;
      locks.set(hash, token);
      return true;
    },
    renew: async () => undefined,
    async release(hash, token, stored) {
      if (locks.get(hash) === token) locks.delete(hash);
      for (const listener of listeners) listener(hash, stored);
    },
    onFilled: (listener) => void listeners.push(listener),
  };
}

function gateway(store: PageStore) {
  const clock = () => 1_000_000;
  const changes = createChangeFollower({ clock, syncedAt: clock, maxUnsyncedSeconds: 5 });
  changes.reset(LINEAGE);
  return createSharedPages({ store, changes, clock, maxEntryBytes: 100_000, release: '1' });
}

const key = cacheKey({ pageVersion: 'v', operationId: 'listIdeas', audience: 'public', upstreamTarget: '/idea.json' });
const page = toStoredPage(
  {
    headers: [['content-type', 'application/json']],
    body: Buffer.from('{"list":[]}'),
    freshness: { freshSeconds: 30, staleWhileRevalidateSeconds: 30, staleIfErrorSeconds: 30 },
    carriesPrivate: false,
    validity: 'valid',
  },
  ['ideas'],
  1_000_000,
  1_000_000,
);

describe('the pages that gateways share', () => {
  it('are fetched once if the lock is released between the lookup and the lock of another gateway', async () => {
    const store = memoryStore();
    const [first, second] = [gateway(store), gateway(store)];
    const fetching = await first.claim(key, { mayWait: true });
    expect(fetching.kind).toBe('fetch');
    // The second gateway finds no page, but before it asks for the lock, the first one stores the page.
    store.afterGet = async () => {
      first.put(key, page, LINEAGE);
      fetching.done();
      await new Promise(setImmediate);
    };
    const claimed = await second.claim(key, { mayWait: true });
    expect(claimed.kind).toBe('page');
    // The lock is free again.
    const third = await gateway(store).claim(key, { mayWait: false, newerThan: 2_000_000 });
    expect(third.kind).toBe('fetch');
    third.done();
  });
});
