import { hash } from 'node:crypto';
import type { Claims } from '../../engine/sharing/sharing.ts';

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
  begin(attempt: UploadAttempt): Promise<UploadVerdict>;
}

/** Returns a hash of the caller and the content, which identifies an upload. */
export function uploadKey({ caller, content }: Pick<UploadAttempt, 'caller' | 'content'>): string {
  return hash('sha256', JSON.stringify([caller, hash('sha256', content, 'base64url')]), 'base64url');
}

/**
 * How long a claim on an upload in progress lasts, in milliseconds, and how often it is renewed. If a gateway crashes, its
 * uploads are blocked for at most this long.
 */
const CLAIM_MS = 600_000;
const RENEW_MS = 200_000;

/**
 * Remembers uploads in claims (docs/rules.md §9): a claim on an upload in progress is held, and one on an accepted upload
 * is settled.
 */
export function createUploadMemory(claims: Claims): UploadMemory {
  return {
    async begin({ force, windowMs, isPeek = false, ...upload }) {
      if (windowMs <= 0) return UNCOMPARED;
      const key = uploadKey(upload);
      const claim = isPeek ? await claims.look(key) : await claims.take(key, CLAIM_MS, force);
      if (typeof claim === 'string' && !force)
        return { verdict: 'duplicate', because: claim === 'settled' ? 'accepted' : 'in flight' };
      if (claim === undefined || typeof claim === 'string') return UNCOMPARED;
      const renewing = setInterval(() => void claim.renew(CLAIM_MS), RENEW_MS).unref();
      let finished = false;
      return {
        verdict: 'first',
        finish(status) {
          if (finished) return;
          finished = true;
          clearInterval(renewing);
          const isAccepted = status !== undefined && status >= 200 && status < 300;
          if (isAccepted) void claims.settle(key, windowMs);
          else void claim.release(false);
        },
      };
    },
  };
}

const UNCOMPARED: UploadVerdict = { verdict: 'first', finish: () => undefined };
