import type { Claim, Sharing } from '../../engine/sharing/sharing.ts';
import type { Clock } from '../../lib/clock.ts';

/** How long a gateway is the one that works before it has to say so again, in milliseconds. */
const LEASE_MS = 15_000;

/** How often a gateway that does not work asks whether it may, in milliseconds. */
const TRY_MS = 1_000;

/** The longest pause, in milliseconds, whatever the upstream asks for. */
const MAX_PAUSE_MS = 3_600_000;

/** Decides which gateway reads lists and sends webhooks, and when it may send a request to the upstream. */
export interface Turns {
  /** Returns whether this gateway is the one that works now. */
  isMine(): Promise<boolean>;
  /** Lets another gateway work, for example because this one has found that it does already. */
  giveUp(): Promise<void>;
  /** Takes the right to send one request to the upstream. Returns the milliseconds to wait before it can be taken. */
  takeRequest(): Promise<number>;
  /** Keeps all gateways from sending requests for some time. */
  pause(ms: number): Promise<void>;
}

/**
 * Creates the turns. They count for all gateways that share with each other, so the limit on requests holds for all of
 * them together, also if one takes over from another. While the others cannot be reached, this gateway does not work,
 * because another one may.
 */
export function createTurns(
  sharing: Pick<Sharing, 'claims' | 'status'>,
  clock: Clock,
  requestsPerMinute: number,
): Turns {
  const claims = sharing.claims('work');
  const gapMs = Math.ceil(60_000 / requestsPerMinute);
  let held: { readonly claim: Claim; until: number } | undefined;
  const canReach = () => sharing.status()?.available !== false;
  let tryAt = -Infinity;
  let asking: Promise<boolean> | undefined;

  const ask = async (): Promise<boolean> => {
    const now = clock();
    // An early renewal leaves enough time for the next one.
    if (held !== undefined && held.until - now > LEASE_MS / 2) return true;
    if (held !== undefined && now < held.until && (await held.claim.renew(LEASE_MS))) {
      held.until = now + LEASE_MS;
      return true;
    }
    await held?.claim.release(false);
    held = undefined;
    if (now < tryAt) return false;
    tryAt = now + TRY_MS;
    const claim = await claims.take('changes', LEASE_MS);
    if (typeof claim === 'string') return false;
    // If the others cannot be reached, a claim counts only in this process. It can be renewed only if it counts for all.
    if (!(await claim.renew(LEASE_MS))) {
      await claim.release(false);
      return false;
    }
    held = { claim, until: now + LEASE_MS };
    return true;
  };

  return {
    async isMine() {
      if (!canReach()) return false;
      asking ??= ask().finally(() => (asking = undefined));
      return asking;
    },
    async giveUp() {
      await held?.claim.release(false);
      held = undefined;
    },
    async takeRequest() {
      if (!canReach()) return gapMs;
      if ((await claims.look('changes pause')) !== undefined) return Math.max(gapMs, 1_000);
      // The claim is never released, so the next request comes after the gap at the earliest.
      return typeof (await claims.take('changes request', gapMs)) === 'string' ? Math.min(gapMs, 1_000) : 0;
    },
    async pause(ms) {
      if (ms > 0) await claims.settle('changes pause', Math.min(Math.ceil(ms), MAX_PAUSE_MS));
    },
  };
}
