import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import type { ChangeLog, SharedChange } from '../../src/model/change-log.ts';
import { connectRedis } from '../../src/redis/connect-redis.ts';
import { openRedisChangeLog } from '../../src/redis/redis-change-log.ts';
import { REDIS_DEFAULTS } from '../../src/redis/redis-options.ts';
import { cleanUpAfterTest } from '../builders/clean-up.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { startRedisServer } from '../builders/redis-server.ts';
import { until } from '../builders/until.ts';

const purge = (...tags: string[]): SharedChange => ({ kind: 'purge', tags });

interface Member {
  readonly log: ChangeLog;
  readonly heard: string[];
}

/** Opens the log of one gateway and records what its listener receives. */
function member(url: string, maxChanges = 10_000): Member {
  const options = { ...REDIS_DEFAULTS, url, commandTimeoutMs: 200 };
  const redis = connectRedis(options, { url, password: undefined }, systemClock);
  const heard: string[] = [];
  const log = openRedisChangeLog({
    redis,
    clock: systemClock,
    maxChanges,
    listener: {
      apply: (change, _number, own) =>
        void heard.push(`${own ? 'own' : 'other'} ${change.kind === 'purge' ? String(change.tags) : change.kind}`),
      reset: () => void heard.push('reset'),
    },
  });
  cleanUpAfterTest(async () => {
    await log.close();
    redis.close();
  });
  return { log, heard };
}

needsProgram('redis', 'the log of shared changes', (path) => {
  const opened = async (url: string) => {
    const one = member(url);
    await until(() => one.log.position() !== undefined);
    return one;
  };

  it('delivers every change to all gateways in the same order', async () => {
    const { url } = await startRedisServer(path);
    const [a, b] = [await opened(url), await opened(url)];
    await Promise.all(Array.from({ length: 50 }, (_, index) => (index % 2 ? a : b).log.append(purge(`node:${index}`))));
    await until(() => a.log.position()?.number === 50 && b.log.position()?.number === 50);
    const tags = (one: Member) => one.heard.slice(1).map((text) => text.split(' ')[1]);
    expect(tags(a)).toEqual(tags(b));
    expect(a.heard.filter((text) => text.startsWith('own'))).toHaveLength(25);
  });

  it('delivers the changes that were made while a gateway was disconnected', async () => {
    const { url } = await startRedisServer(path);
    const [a, b] = [await opened(url), await opened(url)];
    await a.log.append(purge('before'));
    await until(() => b.heard.includes('other before'));
    const control = connectRedis({ ...REDIS_DEFAULTS, url }, { url, password: undefined }, systemClock);
    await until(() => control.isAvailable());
    await control.command('', ['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
    control.close();
    await a.log.append(purge('during'));
    await until(() => b.heard.includes('other during'));
    expect(b.heard).toEqual(['reset', 'other before', 'other during']);
  });

  // A restarted server without persistence counts from 0 again. A reader that trusted the numbers alone would skip
  // every change until the count reaches its old position, and serve purged pages until then.
  it('resets every gateway after the server has lost its data', async () => {
    const server = await startRedisServer(path);
    const [a, b] = [await opened(server.url), await opened(server.url)];
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

  it('is in sync only while the server replies', async () => {
    const server = await startRedisServer(path);
    const a = await opened(server.url);
    await until(() => a.log.syncedAt() > 0);
    server.freeze();
    const frozenAt = Date.now();
    await a.log.append(purge('lost for now'));
    expect(a.log.syncedAt()).toBeLessThanOrEqual(frozenAt);
    server.thaw();
    // The server may have received the change twice, because the first reply came too late.
    await until(() => a.log.syncedAt() > frozenAt && (a.log.position()?.number ?? 0) > 0);
  });
});

describe('a gateway without a server', () => {
  it('starts, and queues its changes', async () => {
    const { log } = member('redis://127.0.0.1:1');
    await log.append(purge('x'));
    expect(log.position()).toBeUndefined();
  });
});
