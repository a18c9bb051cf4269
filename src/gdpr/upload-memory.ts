import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.ts';
import type { GdprOptions } from './gdpr-options.ts';

/** One upload: whose (never a raw credential), which, and whether the caller insists. */
export interface UploadAttempt {
  /** The principal's audience. */
  readonly caller: string;
  readonly body: Buffer;
  readonly force: boolean;
}

/** An upload that may go on, to be finished whatever happens, or a duplicate. */
export type UploadVerdict =
  | {
      readonly verdict: 'first';
      /** Tells how it ended; the status is undefined when no answer came. Later calls count for nothing. */
      readonly finish: (status: number | undefined) => void;
    }
  | { readonly verdict: 'duplicate'; readonly because: 'in flight' | 'accepted' };

/** Knows which uploads were accepted lately and which are under way. */
export interface UploadMemory {
  begin(attempt: UploadAttempt): UploadVerdict;
}

/** The most accepted uploads that are remembered; beyond it the one used longest ago is forgotten. */
const MAX_REMEMBERED = 10_000;

/** Creates an empty memory (rules, 9). */
export function createUploadMemory(clock: Clock, options: Pick<GdprOptions, 'duplicateWindowSeconds'>): UploadMemory {
  const windowMs = options.duplicateWindowSeconds * 1000;
  const acceptedAt = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  // As large as the number of uploads under way, which the server bounds.
  const underWay = new Map<string, number>();

  const isAccepted = (key: string) => {
    const at = acceptedAt.get(key);
    return at !== undefined && Math.abs(clock() - at) < windowMs;
  };

  return {
    begin({ caller, body, force }) {
      const key = JSON.stringify([caller, hash('sha256', body, 'base64url')]);
      const flying = underWay.get(key) ?? 0;
      if (!force && windowMs > 0) {
        if (flying > 0) return { verdict: 'duplicate', because: 'in flight' };
        if (isAccepted(key)) return { verdict: 'duplicate', because: 'accepted' };
      }
      underWay.set(key, flying + 1);
      let finished = false;
      return {
        verdict: 'first',
        finish(status) {
          if (finished) return;
          finished = true;
          const left = (underWay.get(key) ?? 1) - 1;
          if (left > 0) underWay.set(key, left);
          else underWay.delete(key);
          if (status !== undefined && status >= 200 && status < 300) acceptedAt.set(key, clock());
        },
      };
    },
  };
}

/** Whether `Portico-Force` insists on a repeated upload. */
export function isForced(header: string | readonly string[] | undefined): boolean {
  return typeof header === 'string' && header.trim().toLowerCase() === 'true';
}
