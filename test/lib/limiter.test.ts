import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLimiter, LimiterRefusal } from '../../src/lib/limiter.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const limiter = (concurrency = 1, queue = 2) => createLimiter({ concurrency, queue, queueTimeoutMs: 1000 });
const outcome = (place: Promise<unknown>) => place.then(() => 'in').catch((error: unknown) => error);

describe('a limiter', () => {
  it('admits as many as its limit and queues the others in order', async () => {
    const limit = limiter(2, 2);
    const [first] = [await limit.acquire(), await limit.acquire()];
    const order: string[] = [];
    const third = limit.acquire().then(() => order.push('third'));
    void limit.acquire().then(() => order.push('fourth'));
    expect(limit.stats()).toEqual({ inFlight: 2, queued: 2 });
    first();
    await third;
    expect(order).toEqual(['third']);
    expect(limit.stats()).toEqual({ inFlight: 2, queued: 1 });
  });

  it('releases a slot only once, however often release is called', async () => {
    const limit = limiter(2);
    const release = await limit.acquire();
    await limit.acquire();
    release();
    release();
    expect(limit.stats().inFlight).toBe(1);
  });

  it('gets a free slot at once, and none if it would have to wait', async () => {
    const limit = limiter(1);
    const release = limit.tryAcquire();
    expect(limit.stats()).toEqual({ inFlight: 1, queued: 0 });
    expect(limit.tryAcquire()).toBeUndefined();
    const next = limit.acquire();
    release?.();
    // The slot already belongs to the waiting task.
    expect(limit.tryAcquire()).toBeUndefined();
    (await next)();
    expect(limit.tryAcquire()).toBeTypeOf('function');
  });

  it('rejects at once when the queue is full', async () => {
    const limit = limiter(1, 1);
    await limit.acquire();
    void limit.acquire();
    expect(await outcome(limit.acquire())).toMatchObject({ name: 'LimiterRefusal', reason: 'full' });
  });

  it('rejects a caller that has waited too long and removes it from the queue', async () => {
    const limit = limiter();
    const release = await limit.acquire();
    const waiting = outcome(limit.acquire());
    vi.advanceTimersByTime(1000);
    expect(await waiting).toEqual(new LimiterRefusal('timeout'));
    release();
    expect(limit.stats()).toEqual({ inFlight: 0, queued: 0 });
  });

  it('removes a caller that aborts and never gives it a slot', async () => {
    const limit = limiter();
    const release = await limit.acquire();
    const left = new AbortController();
    const waiting = outcome(limit.acquire({ signal: left.signal }));
    left.abort(new Error('gone'));
    expect(await waiting).toEqual(new Error('gone'));
    release();
    expect(limit.stats()).toEqual({ inFlight: 0, queued: 0 });
  });

  it('leaves neither a listener nor a timer behind for a caller that it has admitted', async () => {
    const limit = limiter();
    const release = await limit.acquire();
    const { signal } = new AbortController();
    const waiting = limit.acquire({ signal });
    expect([getEventListeners(signal, 'abort').length, vi.getTimerCount()]).toEqual([1, 1]);
    release();
    await waiting;
    expect([getEventListeners(signal, 'abort').length, vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('never admits a caller that has already aborted', async () => {
    const limit = limiter();
    expect(await outcome(limit.acquire({ signal: AbortSignal.abort(new Error('gone')) }))).toEqual(new Error('gone'));
    expect(limit.stats().inFlight).toBe(0);
  });

  it('keeps to the limit of a client, and gives the other slots to others', async () => {
    const limit = createLimiter({ concurrency: 2, queue: 2, perClient: 1 });
    const release = limit.tryAcquire({ client: 'one' });
    expect(limit.tryAcquire({ client: 'one' })).toBeUndefined();
    const second = limit.acquire({ client: 'one' });
    expect(limit.tryAcquire({ client: 'two' })).toBeTypeOf('function');
    expect(limit.stats()).toEqual({ inFlight: 2, queued: 1 });
    release?.();
    (await second)();
    expect(limit.stats()).toEqual({ inFlight: 1, queued: 0 });
  });

  it('counts the slots of a client that holds several, and none of its urgent tasks', async () => {
    const limit = createLimiter({ concurrency: 9, queue: 0, perClient: 2 });
    const releases = [limit.tryAcquire({ client: 'one' }), limit.tryAcquire({ client: 'one' })];
    expect(limit.tryAcquire({ client: 'one' })).toBeUndefined();
    for (let count = 0; count < 3; count += 1) await limit.acquire({ client: 'one', isUrgent: true });
    releases[0]?.();
    expect(limit.tryAcquire({ client: 'one' })).toBeTypeOf('function');
    expect(limit.tryAcquire({ client: 'one' })).toBeUndefined();
    expect(limit.tryAcquire()).toBeTypeOf('function');
  });

  it('passes over a waiting client that has its share already', async () => {
    const limit = createLimiter({ concurrency: 2, queue: 3, perClient: 1 });
    limit.tryAcquire({ client: 'one' });
    const release = limit.tryAcquire({ client: 'two' });
    const order: string[] = [];
    void limit.acquire({ client: 'one' }).then(() => order.push('one'));
    const third = limit.acquire({ client: 'three' }).then(() => order.push('three'));
    release?.();
    await third;
    expect(order).toEqual(['three']);
    expect(limit.stats()).toEqual({ inFlight: 2, queued: 1 });
  });

  it('says why it refuses, and wraps the reason of a signal that is no error', async () => {
    expect(new LimiterRefusal('full').message).toBe('the queue is full');
    expect(new LimiterRefusal('timeout').message).toBe('the wait in the queue timed out');
    const error = await outcome(limiter().acquire({ signal: AbortSignal.abort('gone') }));
    expect(error).toEqual(new Error('aborted', { cause: 'gone' }));
    expect((error as Error).cause).toBe('gone');
  });

  it('admits an urgent task first, even if the queue is full', async () => {
    const limit = limiter(1, 1);
    const release = await limit.acquire();
    const order: string[] = [];
    const common = limit.acquire().then(() => order.push('common'));
    const urgent = limit.acquire({ isUrgent: true }).then((end) => {
      end();
      return order.push('urgent');
    });
    release();
    await Promise.all([urgent, common]);
    expect(order).toEqual(['urgent', 'common']);
  });
});
