import { expect, it } from 'vitest';
import { createRedisPageStore } from '../../../src/engine/cache/page-store.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { connectTo, startRedisServer } from '../../builders/redis-server.ts';
import { eventually, until } from '../../builders/until.ts';

needsProgram('redis', 'the store of shared pages in Redis', (path) => {
  const open = async () => {
    const { url } = await startRedisServer(path);
    const redis = connectTo(url);
    cleanUpAfterTest(() => redis.close());
    await until(() => redis.isAvailable());
    return createRedisPageStore(redis);
  };
  /** Waits until the lock has expired, and then acquires it. */
  const untilFree = (store: Awaited<ReturnType<typeof open>>) => eventually(() => store.lock('h', 'next', 60_000));

  it('returns the bytes of a page until they expire', async () => {
    const store = await open();
    const bytes = Buffer.from([0, 255, 10, 13]);
    await store.set('h', bytes, 60_000);
    expect(await store.get('h')).toEqual(bytes);
    await store.drop('h');
    expect(await store.get('h')).toBeUndefined();
    await store.set('h', bytes, 1);
    while ((await store.get('h')) !== undefined);
  });

  // A killed gateway cannot release its lock.
  it('frees a lock whose owner has died', async () => {
    const store = await open();
    expect([await store.lock('h', 'dead', 50), await store.lock('h', 'other', 50)]).toEqual([true, false]);
    await untilFree(store);
    expect(await store.lock('h', 'other', 50)).toBe(false);
  });

  // A slow owner must not release or extend the lock after another gateway has acquired it.
  it('changes a lock only for its owner, and reports every fetch', async () => {
    const store = await open();
    const heard: string[] = [];
    store.onFilled((hash, stored) => void heard.push(`${hash} ${stored}`));
    await store.lock('h', 'owner', 60_000);
    await store.renew('h', 'late', 0);
    await store.release('h', 'late', false);
    expect(await store.lock('h', 'other', 1)).toBe(false);
    await store.renew('h', 'owner', 1);
    await untilFree(store);
    // `onFilled` subscribes in the background.
    while (!heard.includes('h true')) await store.release('h', 'next', true);
    expect(await store.lock('h', 'other', 1)).toBe(true);
  });
});
