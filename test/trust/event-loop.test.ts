import { describe, expect, it } from 'vitest';
import { measureTurns } from '../../tools/prove/load/event-loop.ts';

/*
 * The attack: a body of the maximum size takes so long to decode, parse, validate, describe or sample that no other
 * client is served during that time. `npm run prove -- --only event-loop` tries all bodies, with a limit of 50 ms for
 * one turn of the event loop. This test tries the kinds of bodies that once took longest. Its limit is generous, and
 * applies to CPU time so that other processes on the machine do not affect the result.
 */
const ONCE_SLOWEST = /invalid|in an item|in all items|random|indices|escaped quotes|not UTF-8|cells|quotes/;

describe('the event loop', () => {
  it('is not held by any body, and other clients are served meanwhile', async () => {
    const { cases, faults } = await measureTurns({
      bytes: 4 * 1024 * 1024,
      maxTurnMs: 400,
      chooses: (what) => ONCE_SLOWEST.test(what),
      tick: () => undefined,
    });
    expect(faults).toEqual([]);
    expect(cases).toBeGreaterThan(40);
  });
});
