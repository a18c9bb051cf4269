import type { PageStore } from '../../src/engine/cache/page-store.ts';

/** An in-memory store of shared pages. */
export interface FakePageStore {
  /** The stored values, keyed by hash. */
  readonly values: Map<string, Buffer>;
  /** The locks, keyed by hash, with the tokens of their owners. */
  readonly locks: Map<string, string>;
  /** The number of lookups. */
  lookups: number;
  /** Returns the store as seen by one gateway. */
  connect(overrides?: Partial<PageStore>): PageStore;
}

/** Creates a store that several gateways can use. Locks never expire on their own. */
export function createFakePageStore(): FakePageStore {
  const values = new Map<string, Buffer>();
  const locks = new Map<string, string>();
  const listeners = new Set<(hash: string, stored: boolean) => void>();
  const fake: FakePageStore = {
    values,
    locks,
    lookups: 0,
    connect: (overrides) => ({
      isAvailable: () => true,
      get: (hash) => {
        fake.lookups += 1;
        return Promise.resolve(values.get(hash));
      },
      set: (hash, value) => Promise.resolve(void values.set(hash, value)),
      drop: (hash) => Promise.resolve(void values.delete(hash)),
      lock: (hash, token) => {
        if (locks.has(hash)) return Promise.resolve(false);
        locks.set(hash, token);
        return Promise.resolve(true);
      },
      renew: () => Promise.resolve(),
      release: (hash, token, stored) => {
        if (locks.get(hash) === token) locks.delete(hash);
        for (const listener of listeners) listener(hash, stored);
        return Promise.resolve();
      },
      onFilled: (listener) => void listeners.add(listener),
      ...overrides,
    }),
  };
  return fake;
}
