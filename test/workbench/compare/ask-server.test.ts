import { describe, expect, it } from 'vitest';
import type { Upstream } from '../../../src/engine/upstream/create-upstream.ts';
import { createAskedServer } from '../../../src/workbench/compare/ask-server.ts';

type Given = readonly [status: number, retryAfter?: string];

/** A server in which time passes only while a request waits, and which responds 120 ms after a request. */
function asked(responses: readonly Given[], { delayMs = 50, lateMs = 0 } = {}) {
  let now = 1_000_000;
  const start = now;
  const waiting: { readonly at: number; readonly resume: () => void }[] = [];
  const times: number[] = [];
  const left = [...responses];
  const until = (at: number) => new Promise<void>((resume) => void waiting.push({ at, resume }));
  const exchange: Upstream['exchange'] = async () => {
    times.push(now - start);
    const [status, retryAfter] = left.shift() ?? [200];
    await until(now + 120);
    return {
      status,
      headers: retryAfter === undefined ? [] : [['Retry-After', retryAfter]],
      body: Buffer.from('{}'),
    } as unknown as Awaited<ReturnType<Upstream['exchange']>>;
  };
  const server = createAskedServer({
    upstream: { exchange },
    delayMs,
    clock: () => now,
    pause: (ms) => until(now + ms + lateMs),
  });
  const { signal } = new AbortController();
  return {
    server,
    times,
    /** Asks several times at once, and lets time pass until there are responses. */
    async ask(count: number) {
      let isDone = false;
      const all = Promise.all(Array.from({ length: count }, () => server.ask('/x', undefined, signal)));
      void all.then(() => (isDone = true));
      for (;;) {
        await new Promise(setImmediate);
        if (isDone) return all;
        const [next] = waiting.toSorted((a, b) => a.at - b.at);
        if (next === undefined) throw new Error('nothing is waiting');
        waiting.splice(waiting.indexOf(next), 1);
        now = Math.max(now, next.at);
        next.resume();
      }
    },
  };
}

describe('createAskedServer', () => {
  it('sends nothing while the server asks for a pause, not even what was waiting already', async () => {
    const { ask, times } = asked([[429, '7']]);
    await ask(4);
    // The first response arrives when three requests have been sent; the others and the repeated one wait.
    expect(times.filter((at) => at < 7000)).toEqual([0, 50, 100]);
    expect(times.slice(3)).toEqual([7120, 7170]);
  });

  it('keeps the distance even if pauses end late', async () => {
    const { ask, times } = asked([], { delayMs: 100, lateMs: 350 });
    await ask(4);
    expect(times).toEqual([0, 450, 900, 1350]);
  });

  it('takes the time to wait from a date', async () => {
    const { ask, times } = asked([[503, new Date(1_000_000 + 9000).toUTCString()]]);
    await ask(1);
    expect(times).toEqual([0, 9000]);
  });

  it('is not asked again if it asks for a long pause', async () => {
    const { ask, times, server } = asked([[200], [429, '3600']]);
    expect(await ask(1)).toMatchObject([{ response: { status: 200 } }]);
    expect(server.wants).toBe('nothing');
    const responses = await ask(6);
    expect(server.wants).toBe('a long pause');
    expect(responses[0]).toEqual({ because: 'status 429, which asks for more than 120 seconds' });
    expect(responses.at(-1)).toEqual({ because: 'asks for a long pause' });
    expect(times).toHaveLength(4);
  });
});
