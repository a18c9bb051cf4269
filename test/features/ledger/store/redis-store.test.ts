import { beforeAll, expect, it } from 'vitest';
import type { LedgerStore } from '../../../../src/features/ledger/ledger-store.ts';
import { MAX_REPLICAS } from '../../../../src/features/ledger/store/redis-scripts.ts';
import { createRedisStore, openRedisStore } from '../../../../src/features/ledger/store/redis-store.ts';
import type { Redis } from '../../../../src/engine/sharing/redis/connect-redis.ts';
import { cleanUpAfterFile } from '../../../builders/clean-up.ts';
import { batch, entryOf, finished, ledgerWith, NOW, trafficOf } from '../../../builders/ledger.ts';
import { needsProgram } from '../../../builders/needs-program.ts';
import { connectTo, type RedisServer, startRedisServer } from '../../../builders/redis-server.ts';
import { responseViolation } from '../../../builders/response-violation.ts';
import { until } from '../../../builders/until.ts';
import { ledgerStoreContract } from '../../../interfaces/ledger-store.contract.ts';
import { sharedLedgerContract, untilRequests } from '../../../interfaces/shared-ledger-store.contract.ts';

const LIMITS = { maxEntries: 100, retentionDays: 30, maxBytes: 64 * 1024 * 1024 };
const HOUR = 3_600_000;

async function connected(url: string, prefix: string): Promise<Redis> {
  const redis = connectTo(url, { prefix });
  cleanUpAfterFile(() => redis.close());
  await until(() => redis.isAvailable());
  return redis;
}

needsProgram('redis', 'a ledger in Redis', (path) => {
  let server: RedisServer;
  let shared: Redis;
  beforeAll(async () => {
    server = await startRedisServer(path);
    shared = await connected(server.url, 'unused');
  });
  let stores = 0;
  /** Returns a copy of the connection with a new key prefix, so that its ledger is empty. */
  const empty = (redis = shared): Redis => {
    const prefix = `ledger${(stores += 1)}`;
    return { ...redis, key: (group, ...parts) => [`{${prefix}:${group}}`, ...parts].join(':') };
  };
  const storeIn = (redis: Redis, replica = 'a', limits: Partial<typeof LIMITS> = {}): LedgerStore =>
    createRedisStore({ redis, limits: { ...LIMITS, ...limits }, replica }, 'key');

  ledgerStoreContract('Redis', (limits) => storeIn(empty(), 'a', limits));

  sharedLedgerContract(
    'Redis',
    () => {
      const redis = empty();
      return (writer) => openRedisStore({ ...writer, redis, limits: LIMITS });
    },
    async () => {
      const failing = await startRedisServer(path);
      const redis = await connected(failing.url, 'ledger');
      return {
        ...failing,
        open: (writer) => openRedisStore({ ...writer, redis, limits: LIMITS }),
        startEmpty: failing.start,
      };
    },
  );

  it('stays within its estimated size, and removes the oldest counts first', async () => {
    const redis = empty();
    const store = storeIn(redis, 'a', { maxBytes: 60_000, maxEntries: 10_000 });
    const day = Math.floor(NOW / HOUR / 24) - 5;
    let dropped = 0;
    for (let index = 0; index < 6; index++) {
      const hour = (day + index) * 24;
      const at = hour * HOUR;
      const many = Array.from({ length: 10 }, (_, one) =>
        entryOf(`f${index}-${one}`, { firstSeenAt: at, lastSeenAt: at, hours: [[hour, 1]] }),
      );
      const state = await store.write(
        batch({ writtenAt: at, entries: many, traffic: trafficOf(1, 'listIdeas', hour) }),
      );
      ({ dropped } = { dropped: dropped + state.dropped });
    }
    const snapshot = await store.read({}, NOW);
    expect(snapshot.dropped).toBe(dropped);
    expect(dropped).toBeGreaterThan(0);
    expect(snapshot.entries.map(({ fingerprint }) => fingerprint)).toContain('f5-0');
    expect(snapshot.entries.map(({ fingerprint }) => fingerprint)).not.toContain('f0-0');
    const bytes = await redis.command('', ['HGET', redis.key('ledger'), 'bytes']);
    expect(Number(bytes)).toBeLessThanOrEqual(60_000);
  });

  it('stores the counts of a limited number of replicas', async () => {
    const redis = empty();
    for (let index = 0; index < MAX_REPLICAS + 5; index++)
      await storeIn(redis, `r${index}`).write(batch({ writtenAt: NOW + index, traffic: trafficOf(1) }));
    const snapshot = await storeIn(redis).read({}, NOW + 1000);
    expect(snapshot.replicas).toHaveLength(MAX_REPLICAS);
    expect(snapshot.replicas?.at(-1)?.replica).toBe('r5');
    expect(snapshot.traffic).toMatchObject([{ requests: MAX_REPLICAS + 5 }]);
    expect((await storeIn(redis).read({ replica: 'r0' }, NOW + 1000)).traffic).toEqual([]);
  });

  it('uses keys that are on the same node of a cluster', async () => {
    const redis = empty();
    const store = storeIn(redis);
    await store.write(batch({ entries: [entryOf('f1')], traffic: trafficOf(1) }));
    const base = redis.key('ledger');
    const keys = (await shared.command('', ['KEYS', '*'])) as string[];
    const own = keys.filter((key) => key.startsWith(base.slice(0, -1)));
    expect(own.length).toBeGreaterThan(8);
    expect(own.every((key) => key.startsWith(base))).toBe(true);
  });
});

needsProgram('redis', 'a ledger in Redis that fails', (path) => {
  const opened = async (args: readonly string[] = []) => {
    const server = await startRedisServer(path, args);
    const redis = await connected(server.url, 'ledger');
    const ledger = ledgerWith({ openStore: () => openRedisStore({ redis, limits: LIMITS, replica: 'a' }) });
    await ledger.open();
    return { server, redis, ledger };
  };

  it('counts what does not fit in memory while Redis is away', async () => {
    const { server, ledger } = await opened();
    await server.stop();
    ledger.record(finished([responseViolation()]));
    await ledger.flush();
    for (let index = 0; index < 1_500; index++)
      ledger.record(finished([responseViolation({ at: `/list/0/field${index}`, keyword: `k${index}` })]));
    expect(ledger.dropped()).toBe(500);
    await server.start();
    await untilRequests(ledger, 1_501);
    // Half of a ledger's entries are reserved for responses.
    expect((await ledger.snapshot()).dropped).toBe(500 + 1_001 - LIMITS.maxEntries / 2);
  });

  // When Redis is full, it refuses a script before the script's first write, so the whole batch is stored later.
  it('keeps a batch while Redis is full, and never stores a part of it', async () => {
    const { redis, ledger } = await opened(['--maxmemory-policy', 'noeviction']);
    await redis.command('', ['CONFIG', 'SET', 'maxmemory', '1']);
    ledger.record(finished([responseViolation()]));
    await ledger.flush();
    await until(() => redis.isAvailable());
    await redis.command('', ['CONFIG', 'SET', 'maxmemory', '0']);
    await untilRequests(ledger, 1);
    expect(await ledger.snapshot()).toMatchObject({ entries: [{ count: 1 }], dropped: 0 });
  });
});
