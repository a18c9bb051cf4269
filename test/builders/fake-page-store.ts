import type { PageStore } from '../../src/engine/cache/page-store.ts';
import { createClaimListeners } from '../../src/engine/sharing/claim-listeners.ts';

/** An in-memory store of shared pages. */
export interface FakePageStore {
  /** The stored values, keyed by cache key. */
  readonly values: Map<string, Buffer>;
  /** The claimed keys. */
  readonly claims: Set<string>;
  /** The number of lookups. */
  lookups: number;
  /** Returns the store as seen by one gateway. */
  connect(overrides?: Partial<PageStore>): PageStore;
}

/** Creates a store that several gateways can use. Claims never expire on their own. */
export function createFakePageStore(): FakePageStore {
  const values = new Map<string, Buffer>();
  const claims = new Set<string>();
  const listeners = createClaimListeners();
  const fake: FakePageStore = {
    values,
    claims,
    lookups: 0,
    connect: (overrides) => ({
      isShared: () => true,
      get: (key) => {
        fake.lookups += 1;
        return Promise.resolve(values.get(key));
      },
      set: (key, value) => Promise.resolve(void values.set(key, value)),
      drop: (key) => Promise.resolve(void values.delete(key)),
      claim: (key) => {
        if (claims.has(key)) return Promise.resolve(undefined);
        claims.add(key);
        return Promise.resolve({
          renew: () => Promise.resolve(true),
          release: (succeeded) => {
            claims.delete(key);
            listeners.ended(key, succeeded);
            return Promise.resolve();
          },
        });
      },
      listen: listeners.listen,
      ...overrides,
    }),
  };
  return fake;
}
