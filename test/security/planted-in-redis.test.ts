import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { Redis } from '../../src/engine/sharing/redis/connect-redis.ts';
import { cleanUpAfterFile } from '../builders/clean-up.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { sharedBy } from '../builders/fleet.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { connectTo, type RedisServer, startRedisServer } from '../builders/redis-server.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { eventually, until } from '../builders/until.ts';

/*
 * The attack: somebody who can write to the Redis server, for example through another program that uses it, plants
 * values there. A planted page would be served to any caller, a planted page count would refuse pages that exist, and
 * a damaged value could make the gateway fail. With `redis.sealKeyFile`, only values that a gateway of the fleet has
 * written for the same page are used, and damaged values are ignored with or without it.
 */

const LIST = '/services/v2/idea.json';
const [OLD, NEW] = ['the-old-key-of-the-fleet-012345678901', 'the-new-key-of-the-fleet-012345678901'];

needsProgram('redis', 'a gateway that shares its state', (path) => {
  let server: RedisServer;
  let redis: Redis;
  let upstream: FakeUpstream;
  let prefixes = 0;
  beforeAll(async () => {
    server = await startRedisServer(path);
    redis = connectTo(server.url, { prefix: 'unused' });
    cleanUpAfterFile(() => redis.close());
    await until(() => redis.isAvailable());
    upstream = await startFakeUpstream(exampleResponse);
  });

  const keyFile = (key: string) => {
    const file = join(tempFolder(), 'seal-key');
    writeFileSync(file, `${key}\n`, { mode: 0o600 });
    return file;
  };
  const start = async (prefix: string, more: object = {}, config: object = {}): Promise<TestGateway> => {
    const gateway = await startTestGateway({
      upstream,
      config: { ...config, redis: { url: server.url, prefix, ...more } },
    });
    await until(() => sharedBy(gateway).changes.position() !== undefined);
    return gateway;
  };
  const command = (...args: [string, ...(string | Buffer)[]]) => redis.command(String(args[1]), args, { bytes: true });
  const keysLike = async (pattern: string) => ((await command('KEYS', pattern)) as Buffer[]).map(String);
  const pagesOf = async (prefix: string) =>
    (await keysLike(`{${prefix}:page:*`)).filter((key) => !key.includes('gzip') && !key.endsWith('lock'));
  const stored = async (prefix: string, count = 1) => {
    let keys: string[] = [];
    await eventually(async () => (keys = await pagesOf(prefix)).length === count);
    return keys;
  };
  const status = async (gateway: TestGateway, target = LIST) =>
    String((await gateway.call(target)).headers['cache-status']);
  const forged = (gateway: TestGateway) => sharedBy(gateway).pages.counts().forged;

  it('uses a page that another gateway with the key has stored, also after the key was changed', async () => {
    const prefix = `fleet${(prefixes += 1)}`;
    const a = await start(prefix, { sealKeyFile: keyFile(OLD) });
    await a.call(LIST);
    await stored(prefix);
    const same = await start(prefix, { sealKeyFile: keyFile(OLD) });
    expect(await status(same)).toContain('detail=shared');
    const rotated = await start(prefix, { sealKeyFile: keyFile(NEW), previousSealKeyFile: keyFile(OLD) });
    expect(await status(rotated)).toContain('detail=shared');
    const other = await start(prefix, { sealKeyFile: keyFile(NEW) });
    expect(await status(other)).toContain('fwd=miss');
    expect(forged(other)).toBe(1);
    expect(other.log.filter((line) => line.includes('redis.sealKeyFile'))).toHaveLength(1);
  });

  it('uses neither a page that is not sealed nor one that was sealed for another page', async () => {
    const prefix = `fleet${(prefixes += 1)}`;
    const plain = await start(prefix);
    await plain.call(LIST);
    const [key = ''] = await stored(prefix);
    const unsealed = (await command('GET', key)) as Buffer;
    const config = { sealKeyFile: keyFile(NEW) };
    const a = await start(prefix, config);
    expect(await status(a)).toContain('fwd=miss');
    expect(forged(a)).toBe(1);

    await a.call(`${LIST}?page=1&pageSize=7`);
    const keys = await stored(prefix, 2);
    const values = await Promise.all(keys.map(async (one) => (await command('GET', one)) as Buffer));
    const [first = unsealed, second = unsealed] = values;
    await command('SET', keys[0] ?? '', second);
    await command('SET', keys[1] ?? '', first);
    const b = await start(prefix, config);
    expect(await status(b)).toContain('fwd=miss');
    expect(await status(b, `${LIST}?page=1&pageSize=7`)).toContain('fwd=miss');
    expect(forged(b)).toBe(2);
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a text', Buffer.from('planted')],
    ['a format without its content', Buffer.from('PPg1\xff\xff\xff\xff', 'latin1')],
    ['an empty header', Buffer.from('PPg1\0\0\0\x02{}', 'latin1')],
    ['null as the header', Buffer.from('PPg1\0\0\0\x04null', 'latin1')],
    ['zeros', Buffer.alloc(5_000)],
  ])('without a key responds normally if a page was replaced by %s', async (_name, value) => {
    const prefix = `fleet${(prefixes += 1)}`;
    await (await start(prefix)).call(LIST);
    const [key = ''] = await stored(prefix);
    await command('SET', key, value);
    const b = await start(prefix);
    expect((await b.call(LIST)).status).toBe(200);
    expect(b.gateway.services.sharedPages.counts()).toMatchObject({ hit: 0, invalid: 1 });
  });

  it('responds normally if every value in Redis was replaced by a value of another kind', async () => {
    const prefix = `fleet${(prefixes += 1)}`;
    const config = { ledger: { store: 'redis' } };
    const a = await start(prefix, {}, config);
    await a.call(LIST);
    await a.call(`${LIST}?unknown=1`);
    await a.gateway.services.records.flush();
    await stored(prefix);
    for (const key of await keysLike(`{${prefix}:*`)) {
      const kind = String(await command('TYPE', key));
      await command('DEL', key);
      await (kind === 'list' ? command('SET', key, 'planted') : command('LPUSH', key, 'planted'));
    }
    for (const gateway of [
      a,
      await startTestGateway({ upstream, config: { ...config, redis: { url: server.url, prefix } } }),
    ]) {
      expect((await gateway.call(LIST)).status).toBe(200);
      expect((await gateway.admin('/console/api/violations')).status).toBe(200);
      expect((await gateway.admin('/console/api/fleet')).status).toBe(200);
      expect((await gateway.admin('/metrics')).status).toBe(200);
    }
  });

  it.each([
    ['facts that are not JSON', 'facts', '{'],
    ['facts that are not an object', 'facts', '[1]'],
    ['facts without members', 'facts', '{}'],
    ['an unknown category', 'facts', { category: '<b>' }],
    ['an unknown check', 'facts', { check: 'constructor' }],
    ['a message that is not a text', 'facts', { message: { toString: 1 } }],
    ['an operation that is not a text', 'facts', { operation: ['x'] }],
    ['a status that is not a number', 'facts', { status: 'x' }],
    ['no first time', 'first', ''],
    ['a time that no date can have', 'last', '1e300'],
    ['a time that is not a number', 'last', 'yesterday'],
  ] as const)('shows the other violations if an entry has %s, and counts it as lost', async (_name, field, planted) => {
    const prefix = `fleet${(prefixes += 1)}`;
    const gateway = await start(prefix, {}, { ledger: { store: 'redis' }, cache: { enabled: false } });
    for (const name of ['unknown', 'other']) await gateway.call(`${LIST}?${name}=1`);
    await gateway.gateway.services.records.flush();
    const rows = async () => {
      const { status: code, json } = await gateway.admin('/console/api/violations');
      expect(code).toBe(200);
      return (json as unknown as { rows: { fingerprint: string }[] }).rows.length;
    };
    const before = await rows();
    const [entry = ''] = await keysLike(`{${prefix}:*:e:*`);
    const facts = JSON.parse(String(await command('HGET', entry, 'facts'))) as object;
    const value = typeof planted === 'string' ? planted : JSON.stringify({ ...facts, ...planted });
    await command('HSET', entry, field, value);
    expect(await rows()).toBe(before - 1);
    expect((await gateway.gateway.services.records.snapshot()).dropped).toBe(1);
  });

  it.each([
    ['samples', 'not JSON\n{"requestId":5}\n[]'],
    ['callers', 'x'],
    ['h999999|x', 'many'],
    ['h-1|', '1'],
    ['hx|y', '5'],
  ])('shows a violation without the damaged part: %s', async (field, planted) => {
    const prefix = `fleet${(prefixes += 1)}`;
    const gateway = await start(prefix, {}, { ledger: { store: 'redis' }, cache: { enabled: false } });
    await gateway.call(`${LIST}?unknown=1`);
    await gateway.gateway.services.records.flush();
    for (const entry of await keysLike(`{${prefix}:*:e:*`)) await command('HSET', entry, field, planted);
    const snapshot = await gateway.gateway.services.records.snapshot({ history: true });
    expect(snapshot.entries.length).toBeGreaterThan(0);
    expect((await gateway.admin('/console/api/violations')).status).toBe(200);
  });

  it('lists the other gateways if the report of one is damaged', async () => {
    const prefix = `fleet${(prefixes += 1)}`;
    const [a, b] = [await start(prefix), await start(prefix)];
    const listed = () => sharedBy(b).instances.list();
    await until(() => sharedBy(a).instances.list().length > 0);
    const [key = ''] = await keysLike(`{${prefix}:fleet*instances`);
    const now = Math.floor(Date.now() / 1000) + 5;
    for (const [name, text] of [
      ['no-line', `${now}`],
      ['no-json', `${now}\n{`],
      ['null', `${now}\nnull`],
      ['no-members', `${now}\n{}`],
      ['other-kinds', `${now}\n{"name":{},"startedAt":"x"}`],
    ] as const)
      await command('HSET', key, name, text);
    await until(() => listed().length === 2);
    expect((await b.admin('/console/api/fleet')).status).toBe(200);
  });
});
