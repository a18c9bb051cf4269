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
