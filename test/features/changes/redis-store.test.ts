import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { openRedisStore } from '../../../src/features/changes/redis-store.ts';
import { createSeal } from '../../../src/lib/seal.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { connectTo, type RedisServer, startRedisServer } from '../../builders/redis-server.ts';
import { eventually, until } from '../../builders/until.ts';
import { testFeedStore } from './feed-store.contract.ts';

const KEY = 'k'.repeat(32);
const LIMITS = { maxEvents: 1_000, retentionMs: 1_000_000 };

needsProgram('redis', 'a store in Redis', (path) => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await startRedisServer(path);
  });

  const connect = async (prefix: string) => {
    const redis = connectTo(server.url, { prefix });
    cleanUpAfterTest(() => redis.close());
    await until(() => redis.isAvailable());
    return redis;
  };

  testFeedStore(async () => {
    const redis = await connect(`t${randomUUID()}`);
    return (limits) => openRedisStore(redis, createSeal([KEY]), limits);
  });

  it('ignores events and documents that no gateway of the fleet has stored', async () => {
    const redis = await connect(`t${randomUUID()}`);
    const forger = openRedisStore(redis, createSeal(['f'.repeat(32)]), LIMITS);
    const store = openRedisStore(redis, createSeal([KEY]), LIMITS);
    const added = { source: 's', kind: 'k.created', target: { type: 'k', id: '1' }, title: undefined, data: '{}' };
    await forger.commit({ document: 'list', revision: 0, text: 'forged', events: [added], at: 1 });
    expect(await store.after(0, 10)).toEqual([]);
    expect(await store.read('list')).toEqual({ text: '', revision: 1 });
    expect(await store.commit({ document: 'list', revision: 1, text: 'own', events: [added], at: 1 })).toBe(true);
    expect((await store.after(0, 10)).map(({ number }) => number)).toEqual([2]);
  });

  it('has another identity once its data is lost', async () => {
    const prefix = `t${randomUUID()}`;
    const redis = await connect(prefix);
    const store = openRedisStore(redis, createSeal([KEY]), LIMITS);
    const before = await store.lineage();
    expect(await store.lineage()).toBe(before);
    const keys = (await redis.command('', ['KEYS', `*${prefix}*`])) as string[];
    for (const key of keys) await redis.command(key, ['DEL', key]);
    expect(await store.lineage()).not.toBe(before);
  });

  it('tells the other gateways of new events', async () => {
    const prefix = `t${randomUUID()}`;
    const other = openRedisStore(await connect(prefix), createSeal([KEY]), LIMITS);
    const store = openRedisStore(await connect(prefix), createSeal([KEY]), LIMITS);
    let isTold = false;
    other.onEvents(() => (isTold = true));
    const added = { source: 's', kind: 'k.created', target: { type: 'k', id: '1' }, title: undefined, data: '{}' };
    let revision = 0;
    // The subscription may take a moment.
    await eventually(async () => {
      await store.commit({ document: 'list', revision: revision++, text: '', events: [added], at: 1 });
      return isTold;
    });
  });

  it('adds events to those that another gateway has just stored for another list', async () => {
    const redis = await connect(`t${randomUUID()}`);
    const store = openRedisStore(redis, createSeal([KEY]), LIMITS);
    const add = async (document: string) =>
      store.commit({
        document,
        revision: 0,
        text: 'one',
        events: [{ source: document, kind: 'k.created', target: { type: 'k', id: '1' }, title: undefined, data: '{}' }],
        at: 1,
      });
    expect(await Promise.all(['a', 'b', 'c'].map(add))).toEqual([true, true, true]);
    expect((await store.after(0, 10)).map(({ number }) => number)).toEqual([1, 2, 3]);
  });
});
