import { describe, expect, it } from 'vitest';
import { openAlone } from '../../../src/engine/sharing/alone/open-alone.ts';
import type { Claims, Sharing } from '../../../src/engine/sharing/sharing.ts';
import { createTurns } from '../../../src/features/changes/turns.ts';
import { createTestClock, type TestClock } from '../../builders/test-clock.ts';

/** Returns the sharing of a gateway in a fleet. `reach` says whether the others can be reached. */
const inFleet = (
  shared: Sharing,
  reach: { isStated: boolean; isReal: boolean },
): Pick<Sharing, 'claims' | 'status'> => ({
  status: () => ({ available: reach.isStated, unsyncedSeconds: 0 }),
  claims(name) {
    const claims = shared.claims(name);
    const withoutOthers: Claims = {
      ...claims,
      take(...args) {
        if (reach.isReal) return claims.take(...args);
        return { renew: () => false, release: () => undefined };
      },
    };
    return withoutOthers;
  },
});

const passes = (clock: TestClock, seconds: number) => clock.advance(seconds);

describe('the gateway that works', () => {
  it('is one of several, and another one takes over within 15 seconds once it is gone', async () => {
    const clock = createTestClock();
    const shared = openAlone(clock);
    const [one, two] = [createTurns(shared, clock, 60), createTurns(shared, clock, 60)];
    expect([await one.isMine(), await two.isMine()]).toEqual([true, false]);
    for (let second = 0; second < 60; second += 1) {
      passes(clock, 1);
      expect([await one.isMine(), await two.isMine()]).toEqual([true, false]);
    }
    passes(clock, 15);
    expect([await two.isMine(), await one.isMine()]).toEqual([true, false]);
  });

  it('can give its work to another one', async () => {
    const clock = createTestClock();
    const shared = openAlone(clock);
    const [one, two] = [createTurns(shared, clock, 60), createTurns(shared, clock, 60)];
    expect([await one.isMine(), await two.isMine()]).toEqual([true, false]);
    await one.giveUp();
    passes(clock, 1);
    expect([await two.isMine(), await one.isMine()]).toEqual([true, false]);
  });

  it('is none while nobody knows whether another one works', async () => {
    const clock = createTestClock();
    const reach = { isStated: false, isReal: false };
    const turns = createTurns(inFleet(openAlone(clock), reach), clock, 60);
    expect(await turns.isMine()).toBe(false);
    expect(await turns.takeRequest()).toBeGreaterThan(0);
    // A command that gets no reply is noticed before the connection counts as lost.
    reach.isStated = true;
    passes(clock, 2);
    expect(await turns.isMine()).toBe(false);
    reach.isReal = true;
    passes(clock, 2);
    expect(await turns.isMine()).toBe(true);
  });
});

describe('the requests of all gateways together', () => {
  it('are spaced evenly, also if another gateway takes over', async () => {
    const clock = createTestClock();
    const shared = openAlone(clock);
    const all = Array.from({ length: 3 }, () => createTurns(shared, clock, 20));
    let sent = 0;
    for (let tenth = 0; tenth < 600; tenth += 1) {
      for (const turns of all) if ((await turns.takeRequest()) === 0) sent += 1;
      passes(clock, 0.1);
    }
    expect(sent).toBe(20);
  });

  it('pause as long as one of them says', async () => {
    const clock = createTestClock();
    const shared = openAlone(clock);
    const [one, two] = [createTurns(shared, clock, 600), createTurns(shared, clock, 600)];
    await one.pause(30_000);
    passes(clock, 29);
    expect(await two.takeRequest()).toBeGreaterThan(0);
    passes(clock, 2);
    expect(await two.takeRequest()).toBe(0);
  });
});
