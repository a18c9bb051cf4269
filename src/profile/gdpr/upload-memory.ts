import { hash } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import { createLruMap } from '../../lib/bounded-maps.ts';

/** A GDPR upload that is about to be forwarded. */
export interface UploadAttempt {
  /** The caller, in the form that limits count. Never contains a credential. */
  readonly caller: string;
  /** The body, in a form that is the same for all bodies with the same content. */
  readonly content: string | Buffer;
  readonly force: boolean;
  /** How long a repeated upload counts as a duplicate, in milliseconds. 0 disables the check. */
  readonly windowMs: number;
  /** True if the upload is only checked, and neither begins nor is remembered. */
  readonly isPeek?: boolean;
}

/** The result of checking an upload. If the verdict is `first`, `finish` must be called when the upload ends. */
export type UploadVerdict =
  | {
      readonly verdict: 'first';
      /** Records the outcome. `status` is undefined if there was no response. Further calls have no effect. */
      readonly finish: (status: number | undefined) => void;
    }
  | { readonly verdict: 'duplicate'; readonly because: 'in flight' | 'accepted' };

/** Remembers uploads in progress and recently accepted uploads. */
export interface UploadMemory {
  begin(attempt: UploadAttempt): UploadVerdict | Promise<UploadVerdict>;
}

/** Returns a hash of the caller and the content, which identifies an upload. */
export function uploadKey({ caller, content }: Pick<UploadAttempt, 'caller' | 'content'>): string {
  return hash('sha256', JSON.stringify([caller, hash('sha256', content, 'base64url')]), 'base64url');
}

/** The maximum number of accepted uploads to remember. The upload that was accepted first is forgotten first. */
const MAX_REMEMBERED = 10_000;

/** Creates an empty upload memory (docs/rules.md §9). */
export function createUploadMemory(clock: Clock) {
  const acceptedAt = createLruMap<string, number>(MAX_REMEMBERED);
  // This map cannot grow indefinitely, because the server limits the number of uploads in progress.
  const inProgress = new Map<string, number>();

  const isAccepted = (key: string, windowMs: number) => {
    const at = acceptedAt.peek(key);
    return at !== undefined && Math.abs(clock() - at) < windowMs;
  };

  const begin = ({ force, windowMs, isPeek = false, ...upload }: UploadAttempt): UploadVerdict => {
    const key = uploadKey(upload);
    const running = inProgress.get(key) ?? 0;
    if (!force && windowMs > 0) {
      if (running > 0) return { verdict: 'duplicate', because: 'in flight' };
      if (isAccepted(key, windowMs)) return { verdict: 'duplicate', because: 'accepted' };
    }
    if (isPeek) return { verdict: 'first', finish: () => undefined };
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
  };
  return { begin };
}
