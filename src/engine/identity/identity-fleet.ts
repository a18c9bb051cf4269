import { randomUUID } from 'node:crypto';
import { createLruMap } from '../../lib/bounded-maps.ts';
import { canonicalName } from '../model/caller-name.ts';
import type { ChangeListener, ChangeLog } from '../model/change-log.ts';
import {
  type FleetKey,
  openFleetKey,
  type Redis,
  type RedisScript,
  RedisUnavailable,
} from '../sharing/redis/connect-redis.ts';
import type { IdentityOptions } from './identity-options.ts';
import { namesPerNetwork } from './limits.ts';

/** The authentication state shared by a fleet's gateways. */
export interface IdentityFleet {
  /** Limits failed logins across all gateways. Undefined if each process limits only the attempts that it receives. */
  readonly failures: SharedLoginLimiter | undefined;
  readonly revocations: Revocations;
}

/** Limits failed logins across all gateways in a fleet. The limits are the same as those for a single gateway. */
interface SharedLoginLimiter {
  /**
   * Counts an attempt as failed before it is made, so that parallel attempts on several gateways cannot exceed the
   * limits. Returns undefined if Redis is unavailable. Never rejects.
   */
  begin(network: string, name: string): Promise<SharedAttempt | undefined>;
}

/** An attempt that was either counted or refused. */
interface SharedAttempt {
  /** Set if the attempt was refused. A refused attempt is not counted. */
  readonly limited?: { readonly retryAfterSeconds: number };
  /** Removes an attempt that turned out not to be a failure. */
  withdraw(): void;
  /** Records a successful login. For `trustSeconds`, the limit per name does not apply to this name and network. */
  loggedIn(): void;
}

/**
 * Counts an attempt and returns 0. If the attempt is refused, returns how long to wait, in milliseconds. Returns -1 if
 * the hashes were made with a different key. The sorted sets contain the attempts per pair, the attempts per name, and
 * the names that each network has tried. The script uses the Redis server's clock, so differences between gateways'
 * clocks have no effect.
 */
const BEGIN: RedisScript = {
  source: `
local pair, name, network, trusted, key = unpack(KEYS)
local window, limit, perName, names = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local token, member, id = ARGV[5], ARGV[6], ARGV[7]
if redis.sha1hex(redis.call('GET', key) or '') ~= id then return -1 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, set in ipairs({pair, name, network}) do redis.call('ZREMRANGEBYSCORE', set, '-inf', now - window) end
local function waitFor(set, rank)
  return math.max(1, redis.call('ZRANGE', set, rank, rank, 'WITHSCORES')[2] + window - now)
end
if redis.call('ZCARD', name) >= perName and redis.call('EXISTS', trusted) == 0 then return waitFor(name, -perName) end
local tried = redis.call('ZCARD', pair)
if tried >= limit then return waitFor(pair, -limit) end
if tried == 0 and redis.call('ZCARD', network) >= names then return waitFor(network, 0) end
redis.call('ZADD', pair, now, token)
redis.call('ZADD', name, now, token)
redis.call('ZREMRANGEBYRANK', name, 0, -perName - 1)
redis.call('ZADD', network, now, member)
for _, set in ipairs({pair, name, network}) do redis.call('PEXPIRE', set, window) end
return 0`,
};

const WITHDRAW: RedisScript = {
  source: `
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('ZCARD', KEYS[1]) == 0 then redis.call('ZREM', KEYS[3], ARGV[2]) end
if ARGV[3] ~= '0' then redis.call('SET', KEYS[4], '1', 'PX', ARGV[3]) end`,
};

/**
 * Creates the limiter. Redis contains only keyed hashes of networks and names, all of which expire. It never contains a
 * credential, not even in hashed form.
 */
export function createSharedLoginLimiter(redis: Redis, options: IdentityOptions['failures']): SharedLoginLimiter {
  const key = openFleetKey(redis, 'logins');
  const limits = [options.windowSeconds * 1000, options.limit, options.limitPerName, namesPerNetwork(options.maxPairs)];

  const attempt = async (network: string, name: string): Promise<SharedAttempt> => {
    if (key.id() === undefined) await key.read();
    const token = randomUUID();
    for (let tries = 0; tries < 3; tries += 1) {
      const { keys, member } = namesOf(redis, key, network, name);
      const args = [...limits.map(String), token, member, key.id() ?? ''];
      const waitMs = Number(await redis.run(BEGIN, [...keys, key.at], args));
      if (waitMs < 0) {
        await key.read();
        continue;
      }
      const end = (trustMs: number) =>
        // If Redis has become unavailable, the attempt remains counted until the window ends.
        void redis.run(WITHDRAW, keys, [token, member, String(trustMs)]).catch(() => undefined);
      return {
        ...(waitMs > 0 && {
          limited: {
            // A planted time must not lock a caller out for longer than the window.
            retryAfterSeconds: Math.min(Math.ceil(waitMs / 1000), options.windowSeconds),
          },
        }),
        withdraw: () => end(0),
        loggedIn: () => end(options.trustSeconds * 1000),
      };
    }
    throw new RedisUnavailable('the key changes all the time');
  };

  return {
    async begin(network, name) {
      try {
        return await attempt(network, name);
      } catch (error) {
        if (error instanceof RedisUnavailable) return undefined;
        throw error;
      }
    },
  };
}

function namesOf(redis: Redis, key: FleetKey, network: string, name: string) {
  const member = key.hash('pair', network, name);
  const keys = [
    redis.key('logins', 'pair', member),
    redis.key('logins', 'name', key.hash('name', name)),
    redis.key('logins', 'network', key.hash('network', network)),
    redis.key('logins', 'trusted', member),
  ];
  return { keys, member };
}

/** A gateway's memory of verified credentials. */
interface CredentialMemory {
  /**
   * Expires the credentials of all callers whose names satisfy `matches`, so that these credentials are verified again.
   */
  expireCallers(matches: (name: string) => boolean): void;
}

/** Revokes verified credentials on all gateways in a fleet. */
export interface Revocations {
  /**
   * Revokes a caller's credentials on the other gateways, which then verify them again. If `name` is undefined, revokes
   * all callers' credentials. Never rejects.
   */
  announce(name: string | undefined): Promise<void>;
  /**
   * Returns whether a credential verified at this time (epoch milliseconds) may be accepted without being verified
   * again. It must not be accepted if the verification is too old and this gateway may have missed revocations since
   * then.
   */
  mayTrust(verifiedAt: number): boolean;
  /** Sets the credential memory to which other gateways' revocations are applied. */
  applyTo(memory: CredentialMemory): void;
  readonly listener: ChangeListener;
}

interface RevocationParts {
  /** The key for hashing callers' names. */
  readonly key: Pick<FleetKey, 'id' | 'read' | 'hash'>;
  readonly changes: Pick<ChangeLog, 'append'>;
  readonly mayTrust: (verifiedAt: number) => boolean;
}

/** The value of `caller` in a change that applies to all callers. */
const ALL = 'all';
const MAX_TAGS = 10_000;

/**
 * Creates the revocations. A revocation contains the id of the fleet's key and a keyed hash of the caller's name. A
 * gateway that does not have the key verifies all callers' credentials again, once for each caller.
 */
export function createRevocations({ key, changes, mayTrust }: RevocationParts): Revocations {
  const tags = createLruMap<string, string>(MAX_TAGS);
  let memory: CredentialMemory | undefined;

  const tagOf = (name: string) => {
    const known = tags.get(name);
    const id = `${key.id() ?? ''}:`;
    if (known?.startsWith(id) === true) return known;
    const tag = id + key.hash('caller', canonicalName(name));
    tags.set(name, tag);
    return tag;
  };
  const expireAll = () => memory?.expireCallers(() => true);
  const readKey = async () => {
    try {
      await key.read();
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
    }
  };

  return {
    async announce(name) {
      if (key.id() === undefined) await readKey();
      const caller = name === undefined || key.id() === undefined ? ALL : tagOf(name);
      await changes.append({ kind: 'forget', caller });
    },
    mayTrust,
    applyTo: (next) => void (memory = next),
    listener: {
      apply(change) {
        if (change.kind !== 'forget') return;
        const id = key.id();
        if (id !== undefined && change.caller.startsWith(`${id}:`)) {
          memory?.expireCallers((name) => tagOf(name) === change.caller);
          return;
        }
        expireAll();
        // Once the key is known, each later revocation affects only one caller.
        if (change.caller !== ALL) void readKey();
      },
      reset() {
        expireAll();
        void readKey();
      },
    },
  };
}
