import type { Sharing } from '../sharing/sharing.ts';
import type { AudienceGuard } from './audience-guard.ts';
import type { ChangeFollower } from './change-follower.ts';
import type { PageCache } from './memory-pages.ts';
import { audienceOfKey, isShared, operationOfKey } from './stored-page.ts';

/** The demotions made by all gateways. An operation is demoted when its responses are found to depend on the caller. */
export interface SharedDemotions {
  /** Returns whether this gateway knows the other gateways' demotions. */
  areKnown(): boolean;
  /** Announces a demotion to the other gateways, unless it came from them. */
  announce(operation: string): void;
  /** Applies all known demotions to these services, and from now on those of other gateways. */
  applyTo(services: DemotedServices): void;
}

/** The services to which demotions apply. A reload may replace them. */
interface DemotedServices {
  readonly guard: Pick<AudienceGuard, 'demote'>;
  readonly cache: Pick<PageCache, 'retain'>;
}

/**
 * Shares the demotions of operations. Each demotion is stored both in the log of changes and in a set, because the log
 * contains only the latest changes.
 */
export function shareDemotions(
  { changes, set }: Pick<Sharing, 'changes' | 'set'>,
  follower: Pick<ChangeFollower, 'position' | 'isSynced'>,
): SharedDemotions {
  const known = new Set<string>();
  const stored = set('demoted');
  let services: DemotedServices | undefined;
  let hasRead = false;
  let isReading = false;

  const apply = (operation: string) => {
    known.add(operation);
    services?.guard.demote(operation);
    services?.cache.retain((one) => operationOfKey(one) !== operation || !isShared(audienceOfKey(one)));
  };
  const read = async () => {
    if (hasRead || isReading) return;
    isReading = true;
    try {
      for (const operation of await stored.members()) apply(operation);
      hasRead = true;
    } catch {
      // Until the set has been read, every operation is treated as demoted. The next request triggers another attempt
      // to read it.
    }
    isReading = false;
  };
  const store = async (operation: string) => {
    try {
      await stored.add(operation);
    } catch {
      // The log contains the demotion, and a new lineage makes every gateway add it again.
    }
  };
  changes.listen({
    apply(change) {
      if (change.kind !== 'demote') return;
      apply(change.operation);
      void store(change.operation);
    },
    reset() {
      // The set may have been lost, so the known demotions are added to it again.
      for (const operation of known) void changes.append({ kind: 'demote', operation });
      void read();
    },
  });
  return {
    areKnown() {
      if (!hasRead && follower.position() !== undefined) void read();
      return hasRead && follower.isSynced();
    },
    announce(operation) {
      if (known.has(operation)) return;
      known.add(operation);
      void changes.append({ kind: 'demote', operation });
    },
    applyTo(given) {
      services = given;
      for (const operation of known) given.guard.demote(operation);
    },
  };
}
