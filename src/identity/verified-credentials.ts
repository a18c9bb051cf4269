import { LRUCache } from 'lru-cache';

/** What is remembered of a credential: `fresh` needs no verification, `known` was valid before, `unknown` nothing. */
export type Memory = 'fresh' | 'known' | 'unknown';

/** Remembers by keyed hash which credentials were verified, and until when. */
export interface VerifiedCredentials {
  recall(key: string, now: number): Memory;
  /** The name that a fresh credential was verified for; undefined for any other. */
  nameOf(key: string, now: number): string | undefined;
  remember(key: string, name: string, now: number): void;
  forget(key: string): void;
  clear(): void;
}

interface Verified {
  readonly name: string;
  readonly freshUntilAt: number;
}

/** A bounded memory; entries past their time stay as `known` until they are crowded out. */
export function createVerifiedCredentials(cacheSeconds: number, cacheEntries: number): VerifiedCredentials {
  // The instant is the value: lru-cache's own clock would not be the injected one, and drops what it thinks too old.
  const credentials = new LRUCache<string, Verified>({ max: cacheEntries });
  return {
    recall(key, now) {
      const verified = credentials.get(key);
      if (verified === undefined) return 'unknown';
      return now < verified.freshUntilAt ? 'fresh' : 'known';
    },
    nameOf(key, now) {
      const verified = credentials.get(key);
      return verified !== undefined && now < verified.freshUntilAt ? verified.name : undefined;
    },
    remember: (key, name, now) => void credentials.set(key, { name, freshUntilAt: now + cacheSeconds * 1000 }),
    forget: (key) => void credentials.delete(key),
    clear: () => credentials.clear(),
  };
}
