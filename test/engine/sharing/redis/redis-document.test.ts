import { beforeAll, expect, it } from 'vitest';
import type { Redis } from '../../../../src/engine/sharing/redis/connect-redis.ts';
import { mergeItems } from '../../../../src/engine/sharing/merge-items.ts';
import { openRedisDocument } from '../../../../src/engine/sharing/redis/redis-document.ts';
import { openRedisLines } from '../../../../src/engine/sharing/redis/redis-lines.ts';
import { cleanUpAfterFile } from '../../../builders/clean-up.ts';
import { needsProgram } from '../../../builders/needs-program.ts';
import { connectTo, type RedisServer, startRedisServer } from '../../../builders/redis-server.ts';
import { until } from '../../../builders/until.ts';

type Items = readonly string[];

/** Connects to a server, using a key prefix that no other test uses. */
async function connected(url: string, prefix: string): Promise<Redis> {
  const redis = connectTo(url, { prefix });
  cleanUpAfterFile(() => redis.close());
  await until(() => redis.isAvailable());
  return redis;
}

/** One gateway, with its copy of the document. */
interface Member {
  items: Items;
  readonly document: ReturnType<typeof openRedisDocument<Items>>;
  readonly faults: string[];
  set(items: Items): Promise<boolean>;
}

function member(redis: Redis, initial: Items = [], more: { everyone?: Member[] } = {}): Member {
  const { everyone = [] } = more;
  const faults: string[] = [];
  const copy = { items: initial };
  const one: Member = Object.assign(copy, {
    faults,
    document: openRedisDocument<Items>({
      redis,
      name: 'list',
      announce: async () => {
        for (const other of everyone) if (other !== one) await other.document.sync();
      },
      current: () => copy.items,
      adopt: (next) => {
        copy.items = next;
      },
      merge: (base, mine, theirs) => mergeItems({ base, mine, theirs }, String, (here) => here),
      empty: () => [],
      format: (items) => JSON.stringify(items),
      parse: (text) => JSON.parse(text) as Items,
      turnMs: 60_000,
      onFault: (message) => void faults.push(message),
    }),
    set(items: Items) {
      one.items = items;
      return one.document.sync();
    },
  });
  everyone.push(one);
  cleanUpAfterFile(() => one.document.close());
  return one;
}

/** Starts a document and waits until it has been read. On its own, `start` waits only one second for Redis. */
async function started(one: Member): Promise<Member> {
  await one.document.start();
  await one.document.sync();
  return one;
}

needsProgram('redis', 'a shared document', (path) => {
  let server: RedisServer;
  let prefixes = 0;
  const prefix = () => `documents${(prefixes += 1)}`;
  beforeAll(async () => {
    server = await startRedisServer(path);
  });

  it('gets the changes of all gateways, which may happen at the same time', async () => {
    const redis = await connected(server.url, prefix());
    const everyone: Member[] = [];
    const [a, b, c] = [
      member(redis, [], { everyone }),
      member(redis, [], { everyone }),
      member(redis, [], { everyone }),
    ];
    for (const one of everyone) await started(one);
    await Promise.all([a.set(['a']), b.set(['b']), c.set(['c'])]);
    await until(() => everyone.every(({ items }) => items.length === 3));
    await b.set(b.items.filter((item) => item !== 'a'));
    await until(() => everyone.every(({ items }) => [...items].sort().join() === 'b,c'));
  });

  it('is not touched by a gateway that has not been started, such as one of a command', async () => {
    const redis = await connected(server.url, prefix());
    const idle = member(redis, ['left']);
    expect(await idle.set(['left', 'over'])).toBe(false);
    const a = await started(member(redis));
    expect(a.items).toEqual([]);
  });

  it('replaces what a gateway has stored before its start, but not what it has changed since then', async () => {
    const redis = await connected(server.url, prefix());
    const a = await started(member(redis));
    await a.set(['shared']);
    const b = member(redis, ['stale']);
    b.items = ['stale', 'new'];
    await started(b);
    expect([...b.items].sort()).toEqual(['new', 'shared']);
  });

  it('is written again from the memory of a gateway if the server has lost it', async () => {
    const own = await startRedisServer(path);
    const redis = await connected(own.url, 'own');
    const a = await started(member(redis));
    await a.set(['kept']);
    await own.stop();
    expect(await a.set(['kept', 'while away'])).toBe(false);
    await own.start();
    await until(() => redis.isAvailable());
    await a.document.sync();
    const b = await started(member(redis));
    expect(b.items).toEqual(['kept', 'while away']);
  });

  it('is decided on by one gateway at a time, and by another one when the turn of the first has ended', async () => {
    const redis = await connected(server.url, prefix());
    const [a, b] = [await started(member(redis)), await started(member(redis))];
    expect(await a.document.takeTurn()).toBeDefined();
    expect(await b.document.takeTurn()).toBeUndefined();
    // The gateway that holds the lease can extend it.
    expect(await a.document.takeTurn()).toBeDefined();
    const lease = redis.key('documents', 'list', 'lease');
    expect(await redis.command('', ['PTTL', lease])).toBeGreaterThan(0);
    await redis.command('', ['PEXPIRE', lease, '1']);
    let turn = await b.document.takeTurn();
    while (turn === undefined) turn = await b.document.takeTurn();
    expect(await turn.commit(['decided by b'])).toBe(true);
  });

  // A gateway reads the counts, and the machine then pauses it for a minute. Afterwards, it tries to promote a check
  // that another gateway has demoted in the meantime.
  it('is not replaced by a gateway whose turn has ended or that has missed a change', async () => {
    const redis = await connected(server.url, prefix());
    const [paused, other] = [await started(member(redis)), await started(member(redis))];
    await other.set(['first']);

    const missed = await paused.document.takeTurn();
    await other.set(['first', 'second']);
    expect(await missed?.commit(['stale'])).toBe(false);

    const ended = await paused.document.takeTurn();
    // The lease has expired, and another gateway now holds it.
    await redis.command('', ['SET', redis.key('documents', 'list', 'lease'), 'somebody else']);
    expect(await ended?.commit(['stale'])).toBe(false);
    await other.document.sync();
    expect(other.items).toEqual(['first', 'second']);
  });

  it('is left alone if it is damaged, which is reported once', async () => {
    const redis = await connected(server.url, prefix());
    await redis.command('', ['HSET', redis.key('documents', 'list'), 'version', '1', 'text', '{']);
    const a = await started(member(redis, ['mine']));
    expect(await a.set(['mine', 'too'])).toBe(false);
    expect(a.items).toEqual(['mine', 'too']);
    expect(a.faults).toEqual(['the shared document list cannot be used']);
    expect(await redis.command('', ['HGET', redis.key('documents', 'list'), 'text'])).toBe('{');
  });
});

needsProgram('redis', 'a shared trail', (path) => {
  it('contains each line once, in the order of time, and only the latest ones', async () => {
    const server = await startRedisServer(path);
    const redis = await connected(server.url, 'trail');
    const [a, b] = [openRedisLines(redis, 'trail', 3, 2), openRedisLines(redis, 'trail', 3, 2)];
    a.add('expired', 20);
    b.add('expired', 20);
    b.add('set', 10);
    await a.read();
    expect(await b.read()).toEqual(['set', 'expired']);
    for (const at of [30, 40, 50]) a.add(`event ${at}`, at);
    expect(await a.read()).toEqual(['event 40', 'event 50']);
    expect(await redis.command('', ['ZCARD', redis.key('documents', 'trail')])).toBe(3);
    await server.stop();
    a.add('while away', 60);
    expect(await a.read()).toBeUndefined();
    await server.start();
    await until(() => redis.isAvailable());
    expect(await a.read()).toEqual(['while away']);
  });
});
