import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UpstreamFailure, type UpstreamFailureKind } from '../../../src/engine/model/upstream-failure.ts';
import { createLimiter, createUpstreamGate, LimiterRefusal } from '../../../src/engine/upstream/upstream-gate.ts';
import { UPSTREAM_DEFAULTS } from '../../../src/engine/upstream/upstream-options.ts';

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
});

describe('a gate', () => {
  const owner = { caller: 'alice', isVerified: true, address: '192.0.2.1' };

  /** Creates a gate whose circuit opens after this many failures. `fail` can attribute a failure to a page. */
  function gateWith(failures: number) {
    let now = 1000;
    const gate = createUpstreamGate({ ...UPSTREAM_DEFAULTS, circuit: { failures, openSeconds: 5 } }, () => now);
    const fail = async (kind: UpstreamFailureKind, page?: string) =>
      (await gate.enter()).leave(new UpstreamFailure(kind), page);
    return { gate, fail, wait: (seconds: number) => (now += seconds * 1000), state: () => gate.stats().circuit };
  }

  it('opens its circuit if connections for the same page are refused, because no other page could be fetched', async () => {
    const { fail, state } = gateWith(5);
    for (let count = 0; count < 4; count += 1) await fail('refused', '/page');
    expect(state()).toBe('closed');
    await fail('refused', '/page');
    expect(state()).toBe('open');
  });

  it.each<[UpstreamFailureKind, 'open' | 'closed', recorded: boolean]>([
    ['refused', 'open', true],
    ['reset', 'open', true],
    ['truncated', 'open', true],
    ['deadline', 'open', true],
    ['too_large', 'closed', true],
    ['aborted', 'closed', false],
    ['shed', 'closed', false],
    ['circuit_open', 'closed', false],
  ])('after a failure of kind %s has a circuit that is %s', async (kind, expected, recorded) => {
    const { gate, fail, state } = gateWith(1);
    await fail(kind);
    expect(state()).toBe(expected);
    expect(gate.history().lastFailure?.kind).toBe(recorded ? kind : undefined);
  });

  it('counts the failures of a page again after a success', async () => {
    const { gate, fail, state } = gateWith(4);
    for (let count = 0; count < 5; count += 1) await fail('reset', '/page');
    (await gate.enter()).leave();
    for (let count = 0; count < 3; count += 1) await fail('reset', '/page');
    expect(state()).toBe('closed');
    await fail('reset', '/other');
    expect(state()).toBe('open');
  });

  // A client that reads slowly must not make all others wait longer for the trial's result.
  it('closes its circuit as soon as the response to the trial is streamed', async () => {
    const { gate, fail, wait, state } = gateWith(1);
    await fail('reset');
    wait(5);
    (await gate.enter()).stream(owner);
    expect(state()).toBe('closed');
  });

  it('does not use an upload as the trial, because the client could send it slowly', async () => {
    const { gate, fail, wait, state } = gateWith(1);
    await fail('reset');
    wait(5);
    gate.enterStream(owner);
    (await gate.enter()).leave();
    expect(state()).toBe('closed');
  });
});

describe('the history of a gate', () => {
  it('contains the last failure of the upstream and when the circuit opened and closed', async () => {
    let now = 1000;
    const gate = createUpstreamGate({ ...UPSTREAM_DEFAULTS, circuit: { failures: 1, openSeconds: 5 } }, () => now);
    const exchange = async (failure?: UpstreamFailure) => (await gate.enter()).leave(failure);
    expect(gate.history()).toEqual({ lastFailure: undefined, changes: [] });
    await exchange(new UpstreamFailure('reset'));
    now = 7000;
    // A client that disconnects does not count as an upstream failure.
    await exchange(new UpstreamFailure('aborted'));
    await exchange();
    const failure = { cause: 'connection_terminated' };
    expect(gate.history()).toEqual({
      lastFailure: { ...failure, kind: 'reset', at: 1000 },
      changes: [
        { opened: true, openMs: 0, at: 1000, failure },
        { opened: false, openMs: 6000, at: 7000, failure: undefined },
      ],
    });
  });

  it('is limited to the last 50 changes', async () => {
    let now = 0;
    const gate = createUpstreamGate({ ...UPSTREAM_DEFAULTS, circuit: { failures: 1, openSeconds: 1 } }, () => now);
    for (let turn = 0; turn < 40; turn += 1) {
      (await gate.enter()).leave(new UpstreamFailure('reset'));
      now += 2000;
      (await gate.enter()).leave();
    }
    const { changes } = gate.history();
    expect([changes.length, changes[0]?.at, changes.at(-1)?.at]).toEqual([50, 30_000, 80_000]);
  });
});
