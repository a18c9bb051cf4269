import { type AudienceGuard, isShared } from '../../cache/audience.ts';
import type { PageCache } from '../../cache/page-cache.ts';
import { audienceOfKey, operationOfKey } from '../../cache/stored-page.ts';
import type { ChangeFollower } from '../../cache/change-follower.ts';
import type { Redis } from '../../redis/connect-redis.ts';
import type { SharedState } from './shared-state.ts';

/** The demotions of all gateways. A demotion means that an operation's responses were found to depend on the caller. */
export interface SharedDemotions {
  /** Returns whether this gateway knows the demotions of the other gateways. */
  areKnown(): boolean;
  /** Announces a demotion to the other gateways, unless the demotion came from them. */
  announce(operation: string): void;
  /** Applies the demotions of the other gateways to these services from now on. Must be called exactly once. */
  applyTo(services: DemotedServices): void;
}

/** The services that demotions are applied to. A reload may replace them. */
interface DemotedServices {
  readonly guard: Pick<AudienceGuard, 'demote'>;
  readonly cache: Pick<PageCache, 'retain'>;
}

/**
 * The log of changes and, if Redis is configured, the connection to Redis. Without Redis, the log connects only the
 * processes of a single gateway, and the Redis set is not needed.
 */
interface SharedDemotionsParts extends Pick<SharedState, 'changes' | 'listen'> {
  readonly redis?: Redis;
  readonly follower?: ChangeFollower;
}

/**
 * Shares the demotions of operations. Each demotion is stored both in the log of changes and in a Redis set, because
 * the log contains only the latest changes.
 */
export function shareDemotions({ changes, listen, redis, follower }: SharedDemotionsParts): SharedDemotions {
  const known = new Set<string>();
  const key = redis?.key('demoted') ?? '';
  let services: DemotedServices | undefined;
  let hasRead = redis === undefined;
  let isReading = false;

  const apply = (operation: string) => {
    known.add(operation);
    services?.guard.demote(operation);
    services?.cache.retain((one) => operationOfKey(one) !== operation || !isShared(audienceOfKey(one)));
  };
  const read = async () => {
    if (redis === undefined || hasRead || isReading) return;
    isReading = true;
    try {
      for (const operation of (await redis.command(key, ['SMEMBERS', key])) as string[]) apply(operation);
      hasRead = true;
    } catch {
      // Until the set has been read, every operation is treated as demoted. The next request triggers another attempt
      // to read it.
    }
    isReading = false;
  };
  listen({
    apply(change) {
      if (change.kind !== 'demote') return;
      apply(change.operation);
      redis?.command(key, ['SADD', key, change.operation]).catch(() => undefined);
    },
    reset() {
      // Redis may have lost the set, so the known demotions are added again.
      for (const operation of known) void changes.append({ kind: 'demote', operation });
      void read();
    },
  });
  return {
    areKnown() {
      if (!hasRead && follower?.position() !== undefined) void read();
      return hasRead && follower?.isSynced() !== false;
    },
    announce(operation) {
      if (known.has(operation)) return;
      known.add(operation);
      void changes.append({ kind: 'demote', operation });
    },
    applyTo(given) {
      services = given;
    },
  };
}
