import type { Logger } from 'pino';
import type { Clock } from '../lib/clock.ts';
import type { AcceptedViolations } from './model/acceptance.ts';
import type { AcceptedViolation } from './model/ledger-entry.ts';
import type { Service } from './model/service.ts';
import type { RunningGateway } from './running-gateway.ts';
import type { Sharing } from './sharing/sharing.ts';

/** What the follower uses. */
export interface FollowerNeeds {
  readonly sharing: Sharing;
  readonly clock: Clock;
  readonly logger: Logger;
  current(): { readonly start: { readonly baseline: AcceptedViolations | undefined } } | undefined;
}

/**
 * Applies changes to the accepted violations that operators make on other gateways. Changes made before this gateway
 * started are ignored, because they may be older than the file it has read.
 */
export const acceptanceFollower: Service<void, FollowerNeeds> = {
  start({ sharing: { changes }, clock, logger, current }) {
    const startedAt = clock();
    changes.listen({
      apply(change, _number, own) {
        const baseline = current()?.start.baseline;
        if (change.kind !== 'baseline' || own || change.at < startedAt || baseline === undefined) return;
        const { file } = baseline;
        logger.info({ file, fingerprint: change.fingerprint }, 'another gateway has changed the baseline');
        baseline
          .adopt(change)
          .catch((error: unknown) => logger.error({ file, err: error }, 'a change to the baseline cannot be written'));
      },
      reset: () => undefined,
    });
  },
};

interface AcceptanceParts {
  readonly start: { readonly baseline: AcceptedViolations | undefined };
  readonly sharing: Sharing;
  readonly clock: Clock;
  readonly purge: RunningGateway['purge'];
}

/** Returns the accepted violations, whose changes are announced to the other gateways, which then apply them. */
export function sharedAcceptance({
  start: { baseline },
  sharing,
  clock,
  purge,
}: AcceptanceParts): ReturnType<RunningGateway['acceptance']> {
  if (baseline === undefined) return undefined;
  const announce = async (fingerprint: string, accepted: AcceptedViolation | null) =>
    sharing.changes.append({ kind: 'baseline', fingerprint, accepted, at: clock() });
  return {
    file: baseline.file,
    read: baseline.read,
    async accept(accepted) {
      await baseline.accept(accepted);
      await announce(accepted.fingerprint, accepted);
    },
    async withdraw(fingerprint) {
      const isWithdrawn = await baseline.withdraw(fingerprint);
      if (!isWithdrawn) return false;
      await announce(fingerprint, null);
      // Some pages may have been stored only because this violation was accepted, so all pages are purged.
      await purge('all');
      return true;
    },
  };
}
