import { writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../../src/lib/clock.ts';
import {
  connectRedis,
  type Redis,
  type RedisOutcome,
  RedisUnavailable,
} from '../../../../src/engine/sharing/redis/connect-redis.ts';
import {
  readRedisSecrets,
  REDIS_DEFAULTS,
  type RedisOptions,
} from '../../../../src/engine/sharing/redis/redis-options.ts';
import { freePort } from '../../../../bench/free-port.ts';
import { createCertificate } from '../../../builders/certificates.ts';
import { cleanUpAfterFile } from '../../../builders/clean-up.ts';
import { needsProgram } from '../../../builders/needs-program.ts';
import { PATIENT, type RedisServer, startRedisServer, startSentinel } from '../../../builders/redis-server.ts';
import { tempFolder } from '../../../builders/temp-folder.ts';
import { createTestClock, type TestClock } from '../../../builders/test-clock.ts';
import { eventually, until } from '../../../builders/until.ts';

interface Connection {
  readonly redis: Redis;
  readonly states: string[];
  readonly outcomes: RedisOutcome[];
  /** The options for the connection. The time limit for commands can be changed at any time. */
  readonly options: { commandTimeoutMs: number };
}

/** The time limits for a test that repeats its commands because its server disappears. */
const SHORT = { commandTimeoutMs: 500, connectTimeoutMs: 1_000 };

function connect(given: Partial<RedisOptions>, clock: Clock = systemClock): Connection {
  const options = { ...REDIS_DEFAULTS, ...PATIENT, ...given };
  const { secrets, faults } = readRedisSecrets(options);
  if (secrets === undefined) throw new Error(JSON.stringify(faults));
  const states: string[] = [];
  const outcomes: RedisOutcome[] = [];
  const redis = connectRedis(options, secrets, clock, {
    onState: ({ available, reason = '' }) => void states.push(available ? 'available' : `away ${reason}`),
    onCommand: (outcome) => void outcomes.push(outcome),
  });
  cleanUpAfterFile(() => redis.close());
  return { redis, states, outcomes, options };
}

async function connected(given: Partial<RedisOptions>, clock?: Clock): Promise<Connection> {
  const connection = connect(given, clock);
  await until(() => connection.redis.isAvailable());
  return connection;
}

/**
 * Repeats a command until the server accepts it. If the connection uses a test clock, the clock is advanced before each
 * repetition, so that the connection does not wait before it uses the server again.
 */
async function accepted(redis: Redis, key: string, args: readonly string[], clock?: TestClock): Promise<unknown> {
  let result: unknown;
  await eventually(async () => {
    try {
      result = await redis.command(key, args);
      return true;
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
      clock?.advance(1);
      return false;
    }
  });
  return result;
}

const failure = async (result: Promise<unknown>) =>
  result.then(
    () => 'succeeded',
    (error: unknown) => (error instanceof RedisUnavailable ? error.message : error),
  );

needsProgram('redis', 'a connection to Redis', (path) => {
  const set = (redis: Redis) => redis.command('k', ['SET', 'k', 'v']);

  // The tests run at the same time, because in the first two, the servers need some time to agree.
  it.concurrent('follows the sentinels to a new primary', async () => {
    // By default, a primary waits five seconds for more replicas before it sends its data to the first.
    const primary = await startRedisServer(path, ['--repl-diskless-sync-delay', '0']);
    const replica = await startRedisServer(path, ['--replicaof', '127.0.0.1', String(primary.port)]);
    const control = await connected({ url: replica.url });
    const replication = async () => String(await control.redis.command('', ['INFO', 'replication']));
    await eventually(async () => (await replication()).includes('master_link_status:up'));
    const sentinels = [`127.0.0.1:${await startSentinel(path, primary.port)}`];
    const { redis } = await connected({ ...SHORT, sentinel: { name: 'main', nodes: sentinels } });
    await accepted(redis, 'k', ['SET', 'k', 'before']);
    // Until the sentinel knows the replica and its state, it has nothing to fail over to.
    const sentinel = await connected({ url: `redis://${sentinels[0]}` });
    const replicas = async () => JSON.stringify(await sentinel.redis.command('', ['SENTINEL', 'REPLICAS', 'main']));
    await eventually(async () => (await replicas()).includes('"master-link-status","ok"'));
    await primary.stop();
    await accepted(redis, 'k', ['SET', 'k', 'after']);
    expect(await control.redis.command('k', ['GET', 'k'])).toBe('after');
  });

  it.concurrent('finds each key in a cluster, and keys of one group on one node', async () => {
    const servers = await startCluster(path);
    const nodes = servers.map(({ port }) => `127.0.0.1:${port}`);
    const { redis } = await connected({ cluster: { nodes: nodes.slice(0, 1) } });
    const keys = Array.from({ length: 30 }, (_, index) => redis.key(`group${index}`, 'a'));
    for (const key of keys) await redis.command(key, ['SET', key, 'v']);
    const sizes = await Promise.all(
      servers.map(async ({ url }) => (await connected({ url })).redis.command('', ['DBSIZE'])),
    );
    expect(sizes.reduce<number>((sum, size) => sum + Number(size), 0)).toBe(30);
    expect(sizes).not.toContain(0);
    const pair = [redis.key('one', 'a'), redis.key('one', 'b')];
    const script = { source: "redis.call('SET', KEYS[2], ARGV[1]) return redis.call('GET', KEYS[2])" };
    expect(await redis.run(script, pair, ['x'])).toBe('x');
  });

  it.concurrent('returns replies as text or as bytes', async () => {
    const { url } = await startRedisServer(path);
    const { redis, outcomes } = await connected({ url });
    await redis.command('k', ['SET', 'k', Buffer.from([0xff, 0])]);
    expect(await redis.command('k', ['GET', 'k'], { bytes: true })).toEqual(Buffer.from([0xff, 0]));
    expect(await redis.command('k', ['STRLEN', 'k'])).toBe(2);
    expect(outcomes).toEqual(['ok', 'ok', 'ok']);
  });

  it('takes a reply that has arrived while the process was busy for longer than the time limit', async () => {
    const { url } = await startRedisServer(path);
    const { redis, outcomes } = await connected({ url, commandTimeoutMs: 200 });
    const reply = redis.command('k', ['BLPOP', 'k', '0.1']);
    for (let turn = 0; turn < 3; turn += 1) await nextTurn();
    const busyUntil = performance.now() + 500;
    while (performance.now() < busyUntil) void 0;
    expect(await reply).toBeNull();
    expect(outcomes).toEqual(['ok']);
  });

  it.concurrent('sends the source of a script only to a server that does not know it', async () => {
    const { url } = await startRedisServer(path);
    const { redis } = await connected({ url });
    const script = { source: 'return {KEYS[1], ARGV[1]}' };
    expect(await redis.run(script, ['k'], ['a'])).toEqual(['k', 'a']);
    expect(await redis.run(script, ['k'], ['b'])).toEqual(['k', 'b']);
    expect(await redis.command('', ['INFO', 'commandstats'])).toMatch(/cmdstat_eval:calls=1,/);
  });

  it.concurrent('logs in as an ACL user', async () => {
    const { url, port } = await startRedisServer(path, [
      '--user',
      'default',
      'off',
      ...'--user gw on >p%ss:/ ~* &* +@all'.split(' '),
    ]);
    const wrong = connect({ url });
    await until(() => wrong.states.length > 0);
    expect(wrong.states).toEqual(['away NOAUTH']);
    const { redis } = await connected({ url: `redis://gw:p%25ss%3A%2F@127.0.0.1:${port}` });
    await set(redis);
  });

  it.concurrent('tries again until the server exists', async () => {
    const server = await startRedisServer(path);
    await server.stop();
    const { redis, states } = connect({ url: server.url });
    await until(() => states.length > 0);
    expect(await failure(set(redis))).toBe('Redis is not available');
    await server.start();
    await until(() => redis.isAvailable());
    await set(redis);
    expect(states).toEqual(['away ECONNREFUSED', 'available']);
  });

  // A hung process keeps its connections open and accepts new ones, so no error ever occurs.
  it.concurrent(
    'waits for a server that hangs no longer than the timeout, then not at all, and uses it when it is back',
    async () => {
      const server = await startRedisServer(path);
      const clock = createTestClock();
      const { redis, states, outcomes, options } = await connected({ url: server.url }, clock);
      server.freeze();
      options.commandTimeoutMs = 50;
      for (let count = 0; count < 3; count++) expect(await failure(set(redis))).toBe('Redis did not reply in time');
      expect(await failure(set(redis))).toBe('Redis is not available');
      expect(outcomes).toEqual(['timeout', 'timeout', 'timeout', 'skipped']);
      // After a failed trial, the client opens a new connection, which also hangs.
      clock.advance(1);
      expect(await failure(set(redis))).toBe('Redis did not reply in time');
      server.thaw();
      options.commandTimeoutMs = PATIENT.commandTimeoutMs;
      await until(() => states.at(-1) === 'available');
      clock.advance(1);
      await set(redis);
      expect(states).toEqual(['available', 'away Redis did not reply in time', 'available']);
    },
  );

  it.concurrent('replaces a connection that works no longer although it is open', async () => {
    const [old, current] = [await startRedisServer(path), await startRedisServer(path)];
    const clock = createTestClock();
    const { redis } = await connected({ url: old.url }, clock);
    const control = await connected({ url: old.url });
    const clients = async () => String(await control.redis.command('', ['INFO', 'stats']));
    const countOf = (text: string) => Number(/total_connections_received:(\d+)/.exec(text)?.[1]);
    const before = countOf(await clients());
    await control.redis.command('', ['REPLICAOF', '127.0.0.1', String(current.port)]);
    // READONLY means that the server has become a replica. If its name now points to the new primary, a new connection
    // reaches that server.
    expect(['READONLY', 'LOADING', 'MASTERDOWN']).toContain(await failure(set(redis)));
    await eventually(async () => {
      await failure(set(redis));
      clock.advance(1);
      return countOf(await clients()) >= before + 2;
    });
    await accepted(control.redis, '', ['REPLICAOF', 'NO', 'ONE']);
    await accepted(redis, 'k', ['SET', 'k', 'v'], clock);
  });

  it.concurrent('counts a full server as available, because it still replies', async () => {
    const { url } = await startRedisServer(path, ['--maxmemory', '100kb', '--maxmemory-policy', 'noeviction']);
    const { redis, outcomes } = await connected({ url });
    for (let count = 0; count < 6; count++) expect(await failure(set(redis))).toBe('OOM');
    expect(await redis.command('k', ['GET', 'k'])).toBeNull();
    expect(redis.isAvailable()).toBe(true);
    expect(outcomes).toEqual([...Array.from({ length: 6 }, () => 'refused'), 'ok']);
  });

  it.concurrent('treats a server that loads its data as away', async () => {
    // The server takes twenty seconds to load its data unless the test ends the delays. It replies to commands while
    // it is loading.
    const slow = ['--key-load-delay', '1000', '--loading-process-events-interval-bytes', '1024'];
    const server = await startRedisServer(path, ['--dir', tempFolder(), ...slow]);
    const clock = createTestClock();
    const { redis, states } = await connected({ url: server.url }, clock);
    const fill = { source: "for i = 1, 20000 do redis.call('SET', 'key' .. i, 'v') end" };
    await redis.run(fill, ['k'], []);
    await redis.command('', ['SAVE']);
    await server.stop();
    await until(() => states.length > 1);
    await server.start(/Server initialized/);
    const failures: unknown[] = [];
    await eventually(async () => {
      failures.push(await failure(set(redis)));
      return failures.filter((one) => one === 'LOADING').length === 3;
    });
    expect(await failure(set(redis))).toBe('Redis is not available');
    expect(states.at(-1)).toMatch(/^away/);
    // A new connection becomes available only once the server has loaded its data.
    createConnection(server.port, '127.0.0.1').end('CONFIG SET key-load-delay 0\r\n').resume();
    await accepted(redis, 'k', ['SET', 'k', 'v'], clock);
    expect(states.at(-1)).toBe('available');
  });

  it.concurrent('delivers messages again after the connection was lost', async () => {
    const server = await startRedisServer(path);
    const { redis } = await connected({ url: server.url });
    const heard: string[] = [];
    await redis.subscribe('c', (message) => void heard.push(message));
    await redis.command('', ['PUBLISH', 'c', 'one']);
    await until(() => heard.includes('one'));
    await server.stop();
    await server.start();
    await eventually(async () => {
      await accepted(redis, '', ['PUBLISH', 'c', 'two']);
      return heard.includes('two');
    });
  });
});

/** Starts a cluster of three nodes without replicas. */
async function startCluster(path: string): Promise<readonly RedisServer[]> {
  // A node that is slow for less than the timeout does not count as failed.
  const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '60000'];
  const busPorts = await Promise.all([1, 2, 3].map(async () => String(await freePort())));
  const servers = await Promise.all(
    busPorts.map((busPort) => startRedisServer(path, [...args, '--cluster-port', busPort])),
  );
  const nodes = await Promise.all(servers.map(async ({ url }) => (await connected({ url })).redis));
  for (const [index, node] of nodes.entries()) {
    const from = Math.ceil((16_384 / 3) * index);
    const to = Math.ceil((16_384 / 3) * (index + 1)) - 1;
    await node.command('', ['CLUSTER', 'ADDSLOTSRANGE', String(from), String(to)]);
    // Without explicit epochs, two nodes could claim the same one.
    await node.command('', ['CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1)]);
  }
  // If only one node met the others, the others would have to learn of each other through gossip, which is sent once a
  // second.
  for (const [index, { port }] of servers.entries())
    for (const node of nodes.slice(0, index))
      await node.command('', ['CLUSTER', 'MEET', '127.0.0.1', String(port), busPorts[index] ?? '']);
  const complete = 'cluster_state:ok\r\ncluster_slots_assigned:16384';
  for (const node of nodes)
    await eventually(async () => String(await node.command('', ['CLUSTER', 'INFO'])).includes(complete));
  return servers;
}

needsProgram('redis', 'a connection over TLS', (path) => {
  const authority = createCertificate({ name: 'authority' });
  const server = createCertificate({ name: 'redis.internal', issuer: authority });
  const client = createCertificate({ name: 'gateway', issuer: authority });
  const folder = tempFolder();
  const file = (name: string, text: string) => {
    const at = join(folder, name);
    writeFileSync(at, text);
    return at;
  };
  const caFile = file('ca.pem', authority.cert);
  const certFile = file('client.pem', client.cert);
  const keyFile = file('client.key', client.key);
  const start = () =>
    startRedisServer(path, (port) =>
      [
        `--port 0 --tls-port ${port} --tls-ca-cert-file ${caFile}`,
        `--tls-cert-file ${file('server.pem', server.cert)} --tls-key-file ${file('server.key', server.key)}`,
      ].flatMap((line) => line.split(' ')),
    );

  it('presents the client certificate and checks the name of the server', async () => {
    const { port } = await start();
    const url = `rediss://127.0.0.1:${port}`;
    const tls = { caFile, certFile, keyFile };
    const { redis } = await connected({ url, tls: { ...tls, serverName: 'redis.internal' } });
    expect(await redis.command('k', ['SET', 'k', 'v'])).toBe('OK');
    const other = connect({ url, tls: { ...tls, serverName: 'other.internal' } });
    await until(() => other.states.length > 0);
    expect(other.states).toEqual(['away ERR_TLS_CERT_ALTNAME_INVALID']);
  });

  // Without the authority's certificate, anyone on the network could pretend to be the server and read every stored
  // page.
  it('refuses a server whose certificate no trusted authority has issued', async () => {
    const { port } = await start();
    const { states } = connect({ url: `rediss://127.0.0.1:${port}` });
    await until(() => states.length > 0);
    expect(states[0]).toMatch(/^away (?:UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)/);
  });
});

describe('a connection to Redis without a server', () => {
  // A server error can contain a command's arguments, and a library error can contain the URL.
  it('never repeats the URL, the password or the arguments', async () => {
    const { redis, states } = connect({ url: 'redis://someone:hunter2@127.0.0.1:1' });
    await until(() => states.length > 0);
    expect(await failure(redis.command('k', ['GET', 'k']))).toBe('Redis is not available');
    expect(states.join(' ')).not.toMatch(/hunter2|someone/);
  });

  it('can be closed while it connects', () => {
    const { redis } = connect({ url: 'redis://127.0.0.1:1' });
    redis.close();
    redis.close();
    expect(redis.isAvailable()).toBe(false);
  });
});
