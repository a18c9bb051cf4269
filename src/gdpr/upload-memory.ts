import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.ts';
import type { GdprOptions } from './gdpr-options.ts';

/** One upload: its caller (never a raw credential), its body, and whether the caller forces it. */
export interface UploadAttempt {
  /** The principal's audience. */
  readonly caller: string;
  readonly body: Buffer;
  readonly force: boolean;
}

/** An upload that may proceed, for which `finish` must always be called, or a duplicate. */
type UploadVerdict =
  | {
      readonly verdict: 'first';
      /** Reports the outcome; the status is undefined if there was no response. Later calls are ignored. */
      readonly finish: (status: number | undefined) => void;
    }
  | { readonly verdict: 'duplicate'; readonly because: 'in flight' | 'accepted' };

/** Records recently accepted uploads and those in progress. */
export interface UploadMemory {
  begin(attempt: UploadAttempt): UploadVerdict;
}

/** The largest number of stored accepted uploads; beyond it, the least recently used is dropped. */
const MAX_REMEMBERED = 10_000;

/** Creates an empty record of uploads (rules, 9). */
export function createUploadMemory(clock: Clock, options: Pick<GdprOptions, 'duplicateWindowSeconds'>): UploadMemory {
  const windowMs = options.duplicateWindowSeconds * 1000;
  const acceptedAt = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  // Bounded by the number of uploads in progress, which the server limits.
  const inProgress = new Map<string, number>();

  const isAccepted = (key: string) => {
    const at = acceptedAt.get(key);
    return at !== undefined && Math.abs(clock() - at) < windowMs;
  };

  return {
    begin({ caller, body, force }) {
      const key = JSON.stringify([caller, hash('sha256', body, 'base64url')]);
      const running = inProgress.get(key) ?? 0;
      if (!force && windowMs > 0) {
        if (running > 0) return { verdict: 'duplicate', because: 'in flight' };
        if (isAccepted(key)) return { verdict: 'duplicate', because: 'accepted' };
      }
      inProgress.set(key, running + 1);
      let finished = false;
      return {
        verdict: 'first',
        finish(status) {
          if (finished) return;
          finished = true;
          const left = (inProgress.get(key) ?? 1) - 1;
          if (left > 0) inProgress.set(key, left);
          else inProgress.delete(key);
          if (status !== undefined && status >= 200 && status < 300) acceptedAt.set(key, clock());
        },
      };
    },
  };
}
