import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/lib/clock.ts';
import type { SharedChange } from '../../../../src/engine/model/change-log.ts';
import type { Redis } from '../../../../src/engine/sharing/redis/connect-redis.ts';
import { openRedisChangeLog } from '../../../../src/engine/sharing/redis/redis-change-log.ts';
import { cleanUpAfterFile } from '../../../builders/clean-up.ts';
import { needsProgram } from '../../../builders/needs-program.ts';
import { connectTo, type RedisServer, startRedisServer } from '../../../builders/redis-server.ts';
import { until } from '../../../builders/until.ts';

const purge = (...tags: string[]): SharedChange => ({ kind: 'purge', tags });

interface Member {
  readonly log: ReturnType<typeof openRedisChangeLog>;
  readonly heard: string[];
  readonly faults: string[];
  readonly redis: Redis;
}

/** Opens the log for one gateway, and records what the gateway's listener receives. */
function member(url: string, prefix = 'log'): Member {
  const redis = connectTo(url, { prefix });
  const heard: string[] = [];
  const faults: string[] = [];
  const log = openRedisChangeLog({
    redis,
    clock: systemClock,
    maxChanges: 10_000,
    onFault: (message, error) => void faults.push(`${message}: ${error instanceof Error ? error.message : ''}`),
  });
  log.listen({
    apply(change, _number, own) {
      if (change.kind === 'demote') throw new Error('a bug');
      heard.push(`${own ? 'own' : 'other'} ${change.kind === 'purge' ? String(change.tags) : change.kind}`);
    },
    reset: () => void heard.push('reset'),
  });
  cleanUpAfterFile(async () => {
    await log.close();
    redis.close();
  });
  return { log, heard, faults, redis };
}

/**
 * The arguments for a server that loses no data when it stops. If data were lost, the gateways would reset themselves
 * and never receive the changes that were appended before the loss.
 */
const PERSISTENT = ['--appendonly', 'yes', '--appendfsync', 'always'];

/** Appends an arbitrary string to the log, as another version of the gateway might do. */
const APPEND = {
  source: `
local number = redis.call('HINCRBY', KEYS[1], 'number', 1)
redis.call('XADD', KEYS[2], number .. '-1', 'change', ARGV[1], 'id', 'x')
return number`,
};

/** Replaces the second of two entries in the log. */
const REPLACE = {
  source: `
redis.call('DEL', KEYS[1])
redis.call('XADD', KEYS[1], '1-1', 'change', ARGV[1], 'id', 'one')
return redis.call('XADD', KEYS[1], '2-1', 'change', ARGV[1], 'id', 'two')`,
};

// The tests run concurrently, because most of them wait for a gateway to check the log again.
needsProgram('redis', 'the log of shared changes', (path) => {
  const opened = async (url: string, prefix?: string) => {
    const one = member(url, prefix);
    await until(() => one.log.position() !== undefined);
    return one;
  };
  let shared: RedisServer;
  beforeAll(async () => {
    shared = await startRedisServer(path);
  });
  let logs = 0;
  /** Returns the prefix of an empty log on the server that the tests share. */
  const emptyLog = () => `log${(logs += 1)}`;
  const openedPair = async () => {
    const prefix = emptyLog();
    return Promise.all([opened(shared.url, prefix), opened(shared.url, prefix)]);
  };

  it.concurrent('delivers every change to all gateways in the same order', async () => {
    const [a, b] = await openedPair();
    await Promise.all(
      Array.from({ length: 50 }, async (_, index) => (index % 2 ? a : b).log.append(purge(`node:${index}`))),
    );
    await until(() => a.log.position()?.number === 50 && b.log.position()?.number === 50);
    const tags = (one: Member) => one.heard.slice(1).map((text) => text.split(' ')[1]);
    expect(tags(a)).toEqual(tags(b));
    expect(a.heard.filter((text) => text.startsWith('own'))).toHaveLength(25);
  });

  it.concurrent('delivers the changes that were made while a gateway was disconnected', async () => {
    const { url } = await startRedisServer(path);
    const [a, b] = await Promise.all([opened(url), opened(url)]);
    await a.log.append(purge('before'));
    await until(() => b.heard.includes('other before'));
    const control = connectTo(url);
    await until(() => control.isAvailable());
    await control.command('', ['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
    control.close();
    await a.log.append(purge('during'));
    await until(() => b.heard.includes('other during'));
    expect(b.heard).toEqual(['reset', 'other before', 'other during']);
  });

  // After a restart without persistence, a server restarts its count at 0. A reader that trusted the numbers alone
  // would skip every change, and serve purged pages, until the count reached the reader's position.
  it.concurrent('resets every gateway after the server has lost its data', async () => {
    const server = await startRedisServer(path);
    const [a, b] = await Promise.all([opened(server.url), opened(server.url)]);
    await a.log.append(purge('one'));
    await until(() => b.heard.includes('other one'));
    await server.stop();
    await a.log.append(purge('while away'));
    await server.start();
    await until(() => b.heard.includes('other while away') || b.heard.filter((text) => text === 'reset').length > 1);
    await a.log.append(purge('after'));
    await until(() => b.heard.includes('other after') && a.heard.filter((text) => text === 'reset').length > 1);
    expect(a.log.position()?.lineage).toBe(b.log.position()?.lineage);
  });

  // If a disconnected gateway lost one of its own purges from the queue, the other gateways would serve the purged
  // pages until they expire.
  it.concurrent('makes every gateway forget everything if more changes wait than can be stored', async () => {
    const server = await startRedisServer(path, PERSISTENT);
    const [a, b] = await Promise.all([opened(server.url), opened(server.url)]);
    await server.stop();
    for (let index = 0; index < 1_200; index++) await a.log.append(purge(`node:${index}`));
    await a.log.append({ kind: 'reread', document: 'overrides' });
    const before = b.heard.length;
    await server.start();
    await until(() => b.heard.slice(before).includes('reset') && a.heard.includes('own reread'));
  });

  it.concurrent('applies each waiting change once', async () => {
    const server = await startRedisServer(path, PERSISTENT);
    const [a, b] = await Promise.all([opened(server.url), opened(server.url)]);
    await server.stop();
    for (let index = 0; index < 10; index++) await a.log.append(purge('same'));
    await server.start();
    await until(() => b.heard.includes('other same') && a.heard.includes('own same'));
    await a.log.append(purge('last'));
    await until(() => b.heard.includes('other last'));
    expect(b.heard.filter((text) => text === 'other same')).toHaveLength(1);
  });

  // A new version can append a kind of change that an old version does not know, such as a new kind of revocation. The
  // old version must neither stop at this change nor skip it as if it had applied it.
  it.concurrent('resets a gateway for a change that it does not know, and continues', async () => {
    const [a, b] = await openedPair();
    for (const text of ['{"kind":"new","thing":1}', '{"kind":"purge","tags":[1]}', 'not JSON', 'null']) {
      const before = b.heard.length;
      await until(() => a.log.position()?.number === b.log.position()?.number);
      const number = await a.redis.run(APPEND, [a.redis.key('changes', 'head'), a.redis.key('changes', 'log')], [text]);
      await until(() => b.log.position()?.number === Number(number));
      expect(b.heard.slice(before), text).toEqual(['reset']);
    }
    await a.log.append(purge('after'));
    await until(() => b.heard.includes('other after'));
    expect(b.faults).toEqual(['the log contains a change written by another version: all stored data is discarded: ']);
  });

  // Someone who can write to Redis, or another program that uses the same keys, must not be able to stop the gateways
  // from receiving each other's changes.
  it.concurrent.each([
    ['a foreign entry at the end', ['XADD', 'log', '*', 'a', 'b']],
    ['a stream of another type', ['SET', 'log', 'x']],
    ['a head of another type', ['SET', 'head', 'x']],
    ['a head without a number', ['HDEL', 'head', 'number']],
    ['a head with a wrong number', ['HSET', 'head', 'number', 'NaN']],
    ['a lost stream', ['DEL', 'log']],
  ])('begins a new lineage after %s', async (_what, [name = '', key = '', ...rest]) => {
    const [a, b] = await openedPair();
    await a.log.append(purge('before'));
    await until(() => b.heard.includes('other before'));
    const at = a.redis.key('changes', key);
    const before = b.heard.length;
    if (name === 'SET') await a.redis.command(at, ['DEL', at]);
    await a.redis.command(at, [name, at, ...rest]);
    await until(() => b.heard.slice(before).includes('reset'));
    await until(() => a.log.position()?.lineage === b.log.position()?.lineage);
    await a.log.append(purge('after'));
    await until(() => b.heard.includes('other after'));
    expect([...a.faults, ...b.faults]).toEqual([]);
  });

  // After a failover, the new primary may lack the latest changes and reuse their numbers. A gateway that has applied a
  // lost change would then skip the change that now has its number.
  it.concurrent('resets a gateway whose latest change was replaced by another one', async () => {
    const a = await opened(shared.url, emptyLog());
    await a.log.append(purge('kept'));
    await a.log.append(purge('lost'));
    const key = a.redis.key('changes', 'log');
    const before = a.heard.length;
    await a.redis.run(REPLACE, [key], ['{"kind":"purge","tags":["replaced"]}']);
    await until(() => a.heard.slice(before).includes('reset'));
  });

  it.concurrent('reports a listener that throws, resets it, and continues', async () => {
    const [a, b] = await openedPair();
    await a.log.append({ kind: 'demote', operation: 'listQuestions' });
    await a.log.append(purge('after'));
    await until(() => b.heard.includes('other after'));
    expect(b.heard).toEqual(['reset', 'reset', 'other after']);
    expect(b.faults).toEqual(['a change could not be applied: a bug']);
  });

  // A full server still replies to reads, but no gateway can append its purges. A gateway that considered itself up to
  // date would serve purged pages for as long as the server remained full.
  it.concurrent('is not in sync while the server accepts no changes', async () => {
    const { url } = await startRedisServer(path);
    const [a, b] = await Promise.all([opened(url), opened(url)]);
    await until(() => b.log.syncedAt() > 0);
    await a.redis.command('', ['CONFIG', 'SET', 'maxmemory', '1']);
    const fullAt = Date.now();
    await a.log.append(purge('while full'));
    await expect(b.redis.run({ source: "return redis.call('PING')" }, ['k'], [])).resolves.toBe('PONG');
    // The test waits longer than the interval between two checks.
    await until(() => Date.now() > fullAt + 1_200);
    expect(b.log.syncedAt()).toBeLessThanOrEqual(fullAt);
    await a.redis.command('', ['CONFIG', 'SET', 'maxmemory', '0']);
    await until(() => b.heard.includes('other while full') && b.log.syncedAt() > fullAt);
  });

  // A gateway does not know the number of its own purge until it has applied the entry. Until then, it could use a
  // page in Redis that another gateway fetched before the purge.
  it.concurrent(
    'reports its own changes until it has applied them as entries, also after the server was away',
    async () => {
      const server = await startRedisServer(path);
      const a = await opened(server.url);
      const appending = a.log.append(purge('one'));
      expect([...a.log.unapplied()]).toEqual([purge('one')]);
      await appending;
      await until(() => [...a.log.unapplied()].length === 0);
      await server.stop();
      await a.log.append(purge('two'));
      await a.log.append(purge('two'));
      expect([...a.log.unapplied()]).toEqual([purge('two')]);
      const resets = () => a.heard.filter((text) => text === 'reset').length;
      const before = resets();
      await server.start();
      await until(() => resets() > before && a.heard.includes('own two'));
      expect([...a.log.unapplied()]).toEqual([]);
    },
  );

  it.concurrent('is in sync only while the server replies', async () => {
    const server = await startRedisServer(path);
    const a = await opened(server.url);
    await until(() => a.log.syncedAt() > 0);
    server.freeze();
    const frozenAt = Date.now();
    await a.log.append(purge('lost for now'));
    expect(a.log.syncedAt()).toBeLessThanOrEqual(frozenAt);
    server.thaw();
    // The server's first reply came too late, so the server may have received the change twice.
    await until(() => a.log.syncedAt() > frozenAt && (a.log.position()?.number ?? 0) > 0);
  });
});

describe('a gateway without a server', () => {
  it('starts, and queues its changes', async () => {
    const { log } = member('redis://127.0.0.1:1');
    await log.append(purge('x'));
    expect(log.position()).toBeUndefined();
    expect([...log.unapplied()]).toEqual([purge('x')]);
  });
});
