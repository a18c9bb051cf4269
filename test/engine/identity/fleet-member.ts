import { pino } from 'pino';
import { createChangeFollower } from '../../../src/engine/cache/change-follower.ts';
import { IDENTITY_DEFAULTS, type IdentityOptions } from '../../../src/engine/identity/identity-options.ts';
import { createLoginLimits } from '../../../src/engine/identity/login-limits.ts';
import { createRevocations } from '../../../src/engine/identity/revocations.ts';
import { createKeyedHash } from '../../../src/engine/identity/verify-credential.ts';
import { shareThrough } from '../../../src/engine/sharing/redis/open-redis.ts';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { connectTo } from '../../builders/redis-server.ts';
import { until } from '../../builders/until.ts';
import { authenticating, basic, fakeVerifier, refusalOf } from './identity-fixtures.ts';

export const MAX_UNSYNCED_SECONDS = 30;
export const FAILURES = { ...IDENTITY_DEFAULTS.failures, limit: 4, limitPerName: 6 };

/** Starts one gateway in a fleet, with only the parts that verify credentials. The correct password equals the name. */
export async function fleetMember(
  url: string,
  failures: IdentityOptions['failures'] = FAILURES,
  verifier = fakeVerifier(),
  clock: Clock = systemClock,
) {
  const redis = connectTo(url);
  const logger = pino({ enabled: false });
  const sharing = shareThrough(redis, { options: { maxChanges: 1_000 }, sealKeys: [], clock, logger });
  const { changes: log } = sharing;
  const follower = createChangeFollower({ clock, changes: log, maxUnsyncedSeconds: MAX_UNSYNCED_SECONDS });
  log.listen(follower);
  const shared = {
    limits: createLoginLimits(sharing.windows('logins', failures.maxPairs), failures),
    revocations: createRevocations(sharing, follower.mayServe),
  };
  const { authenticator, askNow } = authenticating(verifier.verifier, { failures }, createKeyedHash(), shared);
  shared.revocations.applyTo(authenticator);
  cleanUpAfterTest(() => sharing.close());
  await until(() => log.position() !== undefined);
  // After the first reset, two commands read the fleet's shared key. Replies arrive in order, so the key is known once
  // three later commands have received theirs.
  for (let count = 0; count < 3; count += 1) await redis.command('', ['PING']);
  const from = (address: string) => ({ clientAddress: () => address, now: clock() });
  return {
    ...verifier,
    redis,
    log,
    authenticator,
    ask: async (name: string, password = name, address = '192.0.2.1') => askNow(basic(name, password), from(address)),
    /** Returns whether the credential is accepted without being verified again. */
    isFresh: (name: string) => !(askNow(basic(name), from('192.0.2.1')) instanceof Promise),
    guess: async (name: string, address: string, password = `guess-${Math.random()}`) =>
      (await refusalOf((async () => askNow(basic(name, password), from(address)))())).code,
  };
}
