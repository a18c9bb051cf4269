import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, expect, it } from 'vitest';
import type { Ledger } from '../../../src/ledger/record/create-ledger.ts';
import { type LedgerBatch, type LedgerStore, StoreUnavailable } from '../../../src/ledger/ledger-store.ts';
import { MAX_REPLICAS } from '../../../src/ledger/store/redis-scripts.ts';
import { createRedisStore, openRedisStore } from '../../../src/ledger/store/redis-store.ts';
import type { Redis } from '../../../src/redis/connect-redis.ts';
import { cleanUpAfterFile } from '../../builders/clean-up.ts';
import { batch, finished, ledgerWith, NOW } from '../../builders/ledger.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { connectTo, type RedisServer, startRedisServer } from '../../builders/redis-server.ts';
import { responseViolation } from '../../builders/response-violation.ts';
import { until } from '../../builders/until.ts';
import { ledgerStoreContract } from '../../interfaces/ledger-store.contract.ts';

const LIMITS = { maxEntries: 100, retentionDays: 30, maxBytes: 64 * 1024 * 1024 };
const HOUR = 3_600_000;

async function connected(url: string, prefix: string): Promise<Redis> {
  const redis = connectTo(url, { prefix });
  cleanUpAfterFile(() => redis.close());
  await until(() => redis.isAvailable());
  return redis;
}

const traffic = (requests: number, operation = 'listIdeas', hour = NOW / HOUR) => [
  { operation, hour, requests, checks: {} },
];
const entry = (fingerprint: string, more: Partial<LedgerBatch['entries'][number]> = {}) => ({
  facts: {
    fingerprint,
    operation: 'listIdeas',
    status: 200,
    check: 'responses' as const,
    direction: 'response' as const,
    category: 'type' as const,
    location: 'body' as const,
    keyword: 'type',
    schemaPath: '#/type',
    at: '/list/*/id',
    message: 'm'.repeat(300),
    suggestion: undefined,
  },
  firstSeenAt: NOW,
  lastSeenAt: NOW,
  hours: [[NOW / HOUR, 1]] as const,
  callers: [1],
  samples: [],
  ...more,
});

needsProgram('redis', 'a ledger in Redis', (path) => {
  let server: RedisServer;
  let shared: Redis;
  beforeAll(async () => {
    server = await startRedisServer(path);
    shared = await connected(server.url, 'unused');
  });
  let stores = 0;
  /** Returns the connection with the prefix of an empty ledger. */
  const empty = (redis = shared): Redis => {
    const prefix = `ledger${(stores += 1)}`;
    return { ...redis, key: (group, ...parts) => [`{${prefix}:${group}}`, ...parts].join(':') };
  };
  const storeIn = (redis: Redis, replica = 'a', limits: Partial<typeof LIMITS> = {}): LedgerStore =>
    createRedisStore({ redis, limits: { ...LIMITS, ...limits }, replica }, 'key');

  ledgerStoreContract('Redis', (limits) => storeIn(empty(), 'a', limits));

  it('adds up the counts of all replicas, and reports each replica', async () => {
    const redis = empty();
    const [a, b] = [storeIn(redis), storeIn(redis, 'b')];
    await a.write(batch({ entries: [entry('f1')], traffic: traffic(3) }));
    await b.write(
      batch({ writtenAt: NOW + 1, release: 'two', entries: [entry('f1'), entry('f2')], traffic: traffic(4) }),
    );
    const all = await a.read({}, NOW + 2);
    expect(all.entries.map(({ fingerprint, count }) => [fingerprint, count])).toContainEqual(['f1', 2]);
    expect(all.traffic.map(({ release, requests }) => [release, requests])).toEqual(
      expect.arrayContaining([
        ['one', 3],
        ['two', 4],
      ]),
    );
    expect(all.replicas).toEqual([
      { replica: 'b', release: 'two', lastSeenAt: NOW + 1, requests: 4, violations: 2 },
      { replica: 'a', release: 'one', lastSeenAt: NOW, requests: 3, violations: 1 },
    ]);
    const one = await b.read({ replica: 'a' }, NOW + 2);
    expect(one.entries.map(({ fingerprint, releases }) => [fingerprint, releases])).toEqual([['f1', { one: 1 }]]);
    expect(one.traffic).toEqual([{ operation: 'listIdeas', release: 'one', requests: 3, checks: {} }]);
  });

  it('counts a caller of several replicas once', async () => {
    const redis = empty();
    const ledgers = await Promise.all(
      ['a', 'b'].map(async (replica) => {
        const ledger = ledgerWith({ openStore: () => openRedisStore({ redis, limits: LIMITS, replica }) });
        await ledger.open();
        return ledger;
      }),
    );
    for (const ledger of ledgers) {
      for (const caller of ['anna', 'bert']) ledger.record(finished([responseViolation()], { caller }));
      await ledger.flush();
    }
    expect((await ledgers[0]?.snapshot())?.entries).toMatchObject([{ count: 4, callers: 2 }]);
  });

  it('does not count callers that were hashed with another key, and returns the shared key', async () => {
    const redis = empty();
    const own = createRedisStore({ redis, limits: LIMITS, replica: 'b' }, 'another key');
    await storeIn(redis).write(batch({ entries: [entry('f1', { callers: [1] })] }));
    expect(await own.write(batch({ entries: [entry('f1', { callers: [2, 3] })] }))).toMatchObject({ callerKey: 'key' });
    expect((await own.read({}, NOW)).entries).toMatchObject([{ count: 2, callers: 1 }]);
    await own.write(batch({ entries: [entry('f1', { callers: [2] })] }));
    expect((await own.read({}, NOW)).entries).toMatchObject([{ count: 3, callers: 2 }]);
  });

  // The reply to a batch is lost, so the process sends the batch again. The first copy may still be in the buffer of
  // a broken connection, and may even arrive after a later batch.
  it('adds a batch once, however often it arrives', async () => {
    const redis = empty();
    const store = storeIn(redis);
    const [first, second] = [batch({ traffic: traffic(1) }), batch({ traffic: traffic(10) })];
    for (const one of [first, first, second, first]) await store.write(one);
    expect((await store.read({}, NOW)).traffic).toMatchObject([{ requests: 11 }]);
  });

  it('stores every batch of several processes that write at the same time', async () => {
    const redis = empty();
    const all = ['a', 'b', 'c', 'd'].map((replica) => storeIn(redis, replica));
    await Promise.all(
      Array.from({ length: 100 }, async (_, index) =>
        all[index % 4]?.write(batch({ entries: [entry(`f${index % 7}`)], traffic: traffic(1) })),
      ),
    );
    const snapshot = await storeIn(redis).read({}, NOW);
    expect(snapshot.traffic).toMatchObject([{ requests: 100 }]);
    expect(snapshot.entries.reduce((sum, { count }) => sum + count, 0)).toBe(100);
    expect(snapshot.replicas?.map(({ requests }) => requests)).toEqual([25, 25, 25, 25]);
  });

  it('stays within its estimated size, and removes the oldest counts first', async () => {
    const redis = empty();
    const store = storeIn(redis, 'a', { maxBytes: 60_000, maxEntries: 10_000 });
    const day = Math.floor(NOW / HOUR / 24) - 5;
    let dropped = 0;
    for (let index = 0; index < 6; index++) {
      const hour = (day + index) * 24;
      const at = hour * HOUR;
      const many = Array.from({ length: 10 }, (_, one) =>
        entry(`f${index}-${one}`, { firstSeenAt: at, lastSeenAt: at, hours: [[hour, 1]] }),
      );
      const state = await store.write(batch({ writtenAt: at, entries: many, traffic: traffic(1, 'listIdeas', hour) }));
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
      await storeIn(redis, `r${index}`).write(batch({ writtenAt: NOW + index, traffic: traffic(1) }));
    const snapshot = await storeIn(redis).read({}, NOW + 1000);
    expect(snapshot.replicas).toHaveLength(MAX_REPLICAS);
    expect(snapshot.replicas?.at(-1)?.replica).toBe('r5');
    expect(snapshot.traffic).toMatchObject([{ requests: MAX_REPLICAS + 5 }]);
    expect((await storeIn(redis).read({ replica: 'r0' }, NOW + 1000)).traffic).toEqual([]);
  });

  it('uses keys that are on the same node of a cluster', async () => {
    const redis = empty();
    const store = storeIn(redis);
    await store.write(batch({ entries: [entry('f1')], traffic: traffic(1) }));
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
    const lost: unknown[] = [];
    const failures: unknown[] = [];
    const ledger = ledgerWith({
      openStore: () =>
        openRedisStore({ redis, limits: LIMITS, replica: 'a', onDataLost: () => void lost.push('data lost') }),
      onLost: (error) => void failures.push(error),
    });
    await ledger.open();
    return { server, redis, ledger, lost, failures };
  };
  /** Waits until this number of requests is stored. */
  const untilRequests = async (ledger: Ledger, expected: number): Promise<void> => {
    const snapshot = await ledger.snapshot().catch(() => undefined);
    const found = snapshot?.traffic.reduce((sum, row) => sum + row.requests, 0);
    if (found === expected) return;
    await wait(10);
    await untilRequests(ledger, expected);
  };

  it('writes what was recorded while Redis was frozen, once', async () => {
    const { server, ledger, failures } = await opened();
    ledger.record(finished([responseViolation()]));
    await ledger.flush();
    server.freeze();
    ledger.record(finished([responseViolation()]));
    await ledger.flush();
    ledger.record(finished([responseViolation()]));
    expect(failures).toEqual([expect.any(StoreUnavailable)]);
    await expect(ledger.snapshot()).rejects.toThrow(StoreUnavailable);
    server.thaw();
    await untilRequests(ledger, 3);
    expect(await ledger.snapshot()).toMatchObject({ entries: [{ count: 3 }], dropped: 0 });
    expect(ledger.dropped()).toBe(0);
  });

  it('begins again after Redis has lost its data, and says so', async () => {
    const { server, ledger, lost } = await opened();
    ledger.record(finished([responseViolation()], { caller: 'anna' }));
    await ledger.flush();
    await server.stop();
    ledger.record(finished([responseViolation()], { caller: 'anna' }));
    await ledger.flush();
    await server.start();
    await untilRequests(ledger, 1);
    expect(lost).toEqual(['data lost']);
    expect(await ledger.snapshot()).toMatchObject({ lostAt: NOW, entries: [{ count: 1, callers: 1 }] });
  });

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

  // A server that is full refuses a script before the script's first write, so the batch is stored completely later.
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
