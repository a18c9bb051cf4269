import { LRUCache } from 'lru-cache';

/** What is remembered of a credential: `fresh` needs no verification, `known` was valid before, `unknown` nothing. */
export type Memory = 'fresh' | 'known' | 'unknown';

/** Remembers by keyed hash which credentials were verified, and until when. */
export interface VerifiedCredentials {
  recall(key: string, now: number): Memory;
  remember(key: string, now: number): void;
  forget(key: string): void;
  clear(): void;
}

/** A bounded memory; entries past their time stay as `known` until they are crowded out. */
export function createVerifiedCredentials(cacheSeconds: number, cacheEntries: number): VerifiedCredentials {
  // The instant is the value: lru-cache's own clock would not be the injected one, and drops what it thinks too old.
  const freshUntil = new LRUCache<string, number>({ max: cacheEntries });
  return {
    recall(key, now) {
      const until = freshUntil.get(key);
      if (until === undefined) return 'unknown';
      return now < until ? 'fresh' : 'known';
    },
    remember: (key, now) => void freshUntil.set(key, now + cacheSeconds * 1000),
    forget: (key) => void freshUntil.delete(key),
    clear: () => freshUntil.clear(),
  };
}
