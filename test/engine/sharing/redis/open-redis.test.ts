import { pino } from 'pino';
import { beforeAll, expect, it } from 'vitest';
import { shareThrough } from '../../../../src/engine/sharing/redis/open-redis.ts';
import type { Sharing } from '../../../../src/engine/sharing/sharing.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { cleanUpAfterTest } from '../../../builders/clean-up.ts';
import { needsProgram } from '../../../builders/needs-program.ts';
import { connectTo, type RedisServer, startRedisServer } from '../../../builders/redis-server.ts';
import { eventually, until } from '../../../builders/until.ts';
import { sharingContract } from '../../../interfaces/sharing.contract.ts';

const LONG = 600_000;
const SEAL_KEY = 'the-key-of-the-fleet-0123456789-0123456789';

/** Opens the port of one gateway, and collects the lines that it logs. */
async function gatewayOf({ url }: Pick<RedisServer, 'url'>, prefix: string, sealKeys: readonly string[] = []) {
  const log: string[] = [];
  const redis = connectTo(url, { prefix });
  const sharing = shareThrough(redis, {
    options: { maxChanges: 1_000 },
    sealKeys,
    clock: systemClock,
    logger: pino({}, { write: (line: string) => void log.push(line) }),
  });
  cleanUpAfterTest(() => sharing.close());
  await until(() => redis.isAvailable() && sharing.changes.position() !== undefined);
  return { sharing, redis, log };
}

needsProgram('redis', 'gateways with one Redis', (path) => {
  let server: RedisServer;
  let prefixes = 0;
  beforeAll(async () => {
    server = await startRedisServer(path);
  });
  const startPair = async () => {
    const prefix = `fleet${(prefixes += 1)}`;
    return [await gatewayOf(server, prefix), await gatewayOf(server, prefix)] as const;
  };

  sharingContract(async () => {
    const [here, there] = await startPair();
    return { here: here.sharing, there: there.sharing, passes: (_ms, condition) => eventually(condition) };
  });

  it('apply the changes of all in one order, their own included', async () => {
    const [one, other] = await startPair();
    const heard = [one, other].map(({ sharing }) => {
      const changes: string[] = [];
      sharing.changes.listen({
        apply: (change, number, own) => {
          changes.push(`${number} ${change.kind === 'purge' ? String(change.tags) : ''} ${own ? 'own' : 'other'}`);
        },
        reset: () => undefined,
      });
      return changes;
    });
    await one.sharing.changes.append({ kind: 'purge', tags: ['a'] });
    await other.sharing.changes.append({ kind: 'purge', tags: ['b'] });
    await until(() => heard.every(({ length }) => length === 2));
    expect(heard).toEqual([
      ['1 a own', '2 b other'],
      ['1 a other', '2 b own'],
    ]);
  });

  it('merge a document, and read it again when it has changed', async () => {
    const [one, other] = await startPair();
    const copies = [one, other].map(({ sharing }) => {
      const copy = { value: '' };
      const document = sharing.openDocument<string>('text', {
        current: () => copy.value,
        adopt: (next) => void (copy.value = next),
        merge: (base, mine, theirs) => (mine === base ? theirs : mine),
        empty: () => '',
        format: (value) => value,
        parse: (text) => text,
      });
      return { copy, document };
    });
    for (const { document } of copies) await document.start();
    const [first, second] = copies;
    if (first === undefined || second === undefined) throw new Error('no copies');
    first.copy.value = 'changed';
    expect(await first.document.sync()).toBe(true);
    await until(() => second.copy.value === 'changed');
  });

  // Somebody who can write to Redis could otherwise plant pages for any caller.
  it('use only values that were sealed for their key, and warn once', async () => {
    const prefix = `fleet${(prefixes += 1)}`;
    const { sharing, redis, log } = await gatewayOf(server, prefix, [SEAL_KEY]);
    const plain = await gatewayOf(server, prefix);
    const map = sharing.map('page');
    for (const key of ['mine', 'other']) await map.set(key, Buffer.from(key), LONG);
    expect(String(await map.get('mine'))).toBe('mine');
    const keys = ((await redis.command('', ['KEYS', `{${prefix}:page:*`])) as string[]).toSorted();
    const [first = '', second = ''] = keys;
    const sealed = (await redis.command(first, ['GET', first], { bytes: true })) as Buffer;
    await redis.command(second, ['SET', second, sealed]);
    const found = [await map.get('mine'), await map.get('other')].map(String);
    expect(found.filter((value) => value === 'forged')).toHaveLength(1);
    await plain.sharing.map('page').set('mine', Buffer.from('x'.repeat(100)), LONG);
    expect(await map.get('mine')).toBe('forged');
    expect(await map.get('mine')).toBe('forged');
    expect(log.filter((line) => line.includes('redis.sealKeyFile'))).toHaveLength(1);
  });

  // People who can read Redis must not learn names, addresses or targets.
  it('store keys only as hashes', async () => {
    const [{ sharing, redis }] = await startPair();
    await sharing.map('page').set('planted', Buffer.from('x'), LONG);
    await sharing.claims('page').take('planted', LONG);
    await sharing.counters('rule', 9).add('planted', LONG);
    await sharing.windows('logins', 9).add([{ name: 'pair', texts: ['planted'], limit: 1 }], LONG);
    const keys = (await redis.command('', ['KEYS', `${redis.key('').slice(0, -2)}*`])) as string[];
    expect(keys.length).toBeGreaterThan(6);
    expect(keys.join('\n')).not.toContain('planted');
  });

  // Gateways of an earlier release can run beside those of this one. If a key had another name, both would count, claim
  // and purge without the other.
  it('use the same keys in every release', async () => {
    const prefix = `fleet${(prefixes += 1)}`;
    const { sharing, redis } = await gatewayOf(server, prefix);
    await sharing.map('page').set('KEY', Buffer.from('x'), LONG);
    await sharing.map('count').set('KEY', Buffer.from('x'), LONG);
    await sharing.claims('page').take('KEY', LONG);
    await sharing.claims('upload').take('HASH', LONG);
    await sharing.counters('rule', 9).add('user alice', LONG);
    const pair = { name: 'pair', texts: ['network', 'alice'], limit: 2 };
    (await sharing.windows('logins', 9).add([pair], LONG)).trust('pair', LONG);
    await sharing.windows('logins', 9).add([pair], LONG);
    await sharing.keyedHash('callers').read();
    await sharing.set('demoted').add('listThings');
    const lines = sharing.lines('overrides-trail', 9, 9);
    lines.add('line', 1);
    await lines.read();
    await sharing.changes.append({ kind: 'purge', tags: 'all' });
    const all = async () => ((await redis.command('', ['KEYS', `{${prefix}:*`])) as string[]).toSorted();
    await eventually(async () => (await all()).some((key) => key.includes('trusted')));
    const HASH = '[\\w-]{43}';
    const expected = [
      `{${prefix}:callers}:key`,
      `{${prefix}:changes}:head`,
      `{${prefix}:changes}:log`,
      `{${prefix}:count:${HASH}}`,
      `{${prefix}:demoted}`,
      `{${prefix}:documents}:overrides-trail`,
      `{${prefix}:limit-${HASH}}`,
      `{${prefix}:limits}:key`,
      `{${prefix}:logins}:key`,
      `{${prefix}:logins}:pair:${HASH}`,
      `{${prefix}:logins}:trusted:${HASH}`,
      `{${prefix}:page:${HASH}}`,
      `{${prefix}:page:${HASH}}:lock`,
      `{${prefix}:upload}:HASH`,
    ];
    const keys = await all();
    expect(keys).toHaveLength(expected.length);
    for (const [at, key] of keys.entries()) expect(key).toMatch(new RegExp(`^${expected[at] ?? ''}$`));
  });
});

needsProgram('redis', 'gateways whose Redis fails', (path) => {
  const use = async (sharing: Sharing, key: string) => {
    const window = { name: 'pair', texts: [key], limit: 1 };
    return [
      typeof (await sharing.claims('upload').take(key, LONG)),
      (await sharing.counters('rule', 9).add(key, LONG)).count,
      (await sharing.windows('logins', 9).add([window], LONG)).waitMs === 0,
    ];
  };
  const fresh = ['object', 1, true];
  const used = ['string', 2, false];

  it.each(['hangs', 'is gone'])('go on alone while it %s, and together again afterwards', async (way) => {
    const server = await startRedisServer(path);
    const [one, other] = [await gatewayOf(server, 'p'), await gatewayOf(server, 'p')];
    expect([await use(one.sharing, 'before'), await use(other.sharing, 'before')]).toEqual([fresh, used]);
    if (way === 'hangs') server.freeze();
    else await server.stop();
    expect([await use(one.sharing, 'during'), await use(other.sharing, 'during')]).toEqual([fresh, fresh]);
    expect(await use(one.sharing, 'during')).toEqual(used);
    await until(() => !one.redis.isAvailable());
    expect([one.sharing.map('page').isShared(), one.sharing.status()?.available]).toEqual([false, false]);
    await expect(Promise.resolve(one.sharing.map('page').get('key'))).rejects.toThrow(/not available|in time/);
    await expect(Promise.resolve(one.sharing.set('demoted').members())).rejects.toThrow(/not available|in time/);
    expect(await one.sharing.lines('trail', 9, 9).read()).toBeUndefined();
    const appending = one.sharing.changes.append({ kind: 'purge', tags: ['waiting'] });
    await appending;
    expect([...one.sharing.changes.unapplied()]).toEqual([{ kind: 'purge', tags: ['waiting'] }]);
    if (way === 'hangs') server.thaw();
    else await server.start();
    await until(() => [one, other].every(({ redis }) => redis.isAvailable()));
    await until(() => [...one.sharing.changes.unapplied()].length === 0);
    expect([await use(one.sharing, 'after'), await use(other.sharing, 'after')]).toEqual([fresh, used]);
  });

  it.each([
    ['has no memory left', ['CONFIG', 'SET', 'maxmemory', '1']],
    ['has become a replica', ['REPLICAOF', '127.0.0.1', '1']],
  ] as const)('go on alone while it refuses to write because it %s', async (_case, [name, ...args]) => {
    const server = await startRedisServer(path);
    const { sharing, redis } = await gatewayOf(server, 'p');
    await sharing.map('page').set('kept', Buffer.from('x'), LONG);
    const admin = connectTo(server.url, { prefix: 'admin' });
    cleanUpAfterTest(() => admin.close());
    await until(() => admin.isAvailable());
    await admin.command('', [name, ...args]);
    expect([await use(sharing, 'key'), await use(sharing, 'key')]).toEqual([fresh, used]);
    await expect(Promise.resolve(sharing.map('page').set('key', Buffer.from('x'), LONG))).rejects.toThrow();
    await sharing.changes.append({ kind: 'purge', tags: ['waiting'] });
    expect([...sharing.changes.unapplied()]).toEqual([{ kind: 'purge', tags: ['waiting'] }]);
    const syncedAt = sharing.changes.syncedAt();
    await eventually(async () => systemClock() - syncedAt > 0 && sharing.changes.syncedAt() === syncedAt);
    expect(redis.isAvailable() || name === 'REPLICAOF').toBe(true);
  });
});
