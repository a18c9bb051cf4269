import { expect, it, vi } from 'vitest';
import { type Redis, RedisUnavailable } from '../../../../src/engine/sharing/redis/connect-redis.ts';
import { openInstances } from '../../../../src/engine/sharing/redis/instances.ts';
import type { InstanceFacts } from '../../../../src/engine/sharing/sharing.ts';
import { cleanUpAfterTest } from '../../../builders/clean-up.ts';
import { needsProgram } from '../../../builders/needs-program.ts';
import { connectTo, startRedisServer } from '../../../builders/redis-server.ts';
import { until } from '../../../builders/until.ts';

const factsOf = (name: string): InstanceFacts => ({
  name,
  version: '1',
  release: 'one',
  mode: 'strict',
  contract: 'c',
  configuration: 'd',
  baseline: 'e',
  startedAt: 0,
  ready: true,
});

it('a gateway that cannot report when it starts tries again soon', async () => {
  vi.useFakeTimers();
  cleanUpAfterTest(() => void vi.useRealTimers());
  let reports = 0;
  const run = async () => {
    reports += 1;
    if (reports < 3) throw new RedisUnavailable();
    return [];
  };
  const own = openInstances({
    key: () => 'key',
    run,
    command: async () => null,
    isAvailable: () => true,
  } as unknown as Redis);
  own.start(() => factsOf('own'));
  await vi.advanceTimersByTimeAsync(1_000);
  expect([reports, own.list().map(({ name }) => name)]).toEqual([3, ['own']]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(reports).toBe(4);
  await own.close();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(reports).toBe(4);
});

needsProgram('redis', 'the list of gateways', (path) => {
  it('contains the gateways that report, until they sign off or fall silent', async () => {
    const { url } = await startRedisServer(path);
    const redis = connectTo(url);
    cleanUpAfterTest(() => redis.close());
    await until(() => redis.isAvailable());
    const key = redis.key('fleet', 'instances');
    const [seconds] = (await redis.command('', ['TIME'])) as string[];
    // One gateway was killed a minute ago, and another has just reported.
    const planted = (ago: number, name: string) => `${Number(seconds) - ago}\n${JSON.stringify(factsOf(name))}`;
    await redis.command(key, ['HSET', key, 'killed', planted(60, 'killed'), 'alive', planted(3, 'alive')]);

    const own = openInstances(redis);
    expect(own.list()).toEqual([]);
    own.start(() => factsOf('own'));
    await until(() => own.list().length === 2);
    const [alive, self] = own.list();
    expect([alive?.name, self?.name, self?.silentSeconds]).toEqual(['alive', 'own', 0]);
    expect(alive?.silentSeconds).toBeGreaterThanOrEqual(3);
    expect(await redis.command(key, ['HLEN', key])).toBe(2);
    await own.close();
    expect(await redis.command(key, ['HKEYS', key])).toEqual(['alive']);
    expect(own.list()).toEqual([]);
  });
});
