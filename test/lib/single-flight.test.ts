import { describe, expect, it } from 'vitest';
import { createSingleFlight } from '../../src/lib/single-flight.ts';

describe('a single flight', () => {
  it('runs work once for concurrent callers and names one leader', async () => {
    const flights = createSingleFlight<string>();
    const gate = Promise.withResolvers<string>();
    let runs = 0;
    const work = () => {
      runs += 1;
      return gate.promise;
    };
    const first = flights.run('k', work);
    const second = flights.run('k', work);
    gate.resolve('page');
    expect(await Promise.all([first.promise, second.promise])).toEqual(['page', 'page']);
    expect([runs, first.leader, second.leader]).toEqual([1, true, false]);
  });

  it('separates keys', async () => {
    const flights = createSingleFlight<string>();
    const a = flights.run('a', () => Promise.resolve('A'));
    const b = flights.run('b', () => Promise.resolve('B'));
    expect(await Promise.all([a.promise, b.promise])).toEqual(['A', 'B']);
    expect(b.leader).toBe(true);
  });

  it('forgets finished and failed work', async () => {
    const flights = createSingleFlight<string>();
    await expect(flights.run('k', () => Promise.reject(new Error('down'))).promise).rejects.toThrow('down');
    expect(flights.size).toBe(0);
    const again = flights.run('k', () => Promise.resolve('up'));
    expect([again.leader, await again.promise]).toEqual([true, 'up']);
    expect(flights.size).toBe(0);
  });

  it("ends only the leader's wait when the leader aborts; the others receive the result", async () => {
    const flights = createSingleFlight<string>();
    const gate = Promise.withResolvers<string>();
    const leaving = new AbortController();
    const leader = flights.run('k', () => gate.promise, leaving.signal);
    const follower = flights.run('k', () => gate.promise, new AbortController().signal);
    leaving.abort(new Error('left'));
    await expect(leader.promise).rejects.toThrow('left');
    gate.resolve('page');
    expect(await follower.promise).toBe('page');
  });

  it('rejects at once for a caller that has already aborted', async () => {
    const flights = createSingleFlight<string>();
    const flight = flights.run('k', () => Promise.resolve('page'), AbortSignal.abort(new Error('gone')));
    await expect(flight.promise).rejects.toThrow('gone');
  });

  it('turns a synchronous exception into a rejection', async () => {
    const flights = createSingleFlight<string>();
    const flight = flights.run('k', () => {
      throw new Error('at once');
    });
    await expect(flight.promise).rejects.toThrow('at once');
    expect(flights.size).toBe(0);
  });

  it('causes no unhandled rejection when work fails after all callers have left', async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', listen);
    const flights = createSingleFlight<string>();
    const gate = Promise.withResolvers<string>();
    const leaving = new AbortController();
    flights.run('k', () => gate.promise, leaving.signal);
    flights.run('k', () => gate.promise);
    leaving.abort();
    gate.reject(new Error('too late'));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', listen);
    expect(unhandled).toEqual([]);
  });

  it('does not share work for keys beyond its bound', async () => {
    const flights = createSingleFlight<string>({ maxKeys: 1 });
    const gate = Promise.withResolvers<string>();
    const all = ['a', 'b', 'b'].map((key) => flights.run(key, () => gate.promise));
    expect(all.map(({ leader }) => leader)).toEqual([true, true, true]);
    expect(flights.size).toBe(1);
    gate.resolve('page');
    await Promise.all(all.map(({ promise }) => promise));
    expect(flights.size).toBe(0);
  });
});
