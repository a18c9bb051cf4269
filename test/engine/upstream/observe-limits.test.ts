import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { type ObservedPass, observeLimits } from '../../../src/engine/upstream/observe-limits.ts';
import { createUpstreamGate } from '../../../src/engine/upstream/upstream-gate.ts';
import { UPSTREAM_DEFAULTS, withoutLimits } from '../../../src/engine/upstream/upstream-options.ts';

/** Creates a gate in `observe` mode whose limits would admit one exchange and make another wait. */
function observing() {
  const options = { ...UPSTREAM_DEFAULTS, concurrency: 1, queue: 1 };
  const open = createUpstreamGate(withoutLimits(options), systemClock);
  const limited = createUpstreamGate(options, systemClock);
  const gate = observeLimits(open, limited);
  return { enter: async () => (await gate.enter(() => ({ client: 'a' }))) as ObservedPass, open, limited };
}

describe('limits that are only observed', () => {
  it('record an exchange that would have been refused, and never delay one', async () => {
    const { enter, open } = observing();
    const passes = [await enter(), await enter(), await enter()];
    await Promise.resolve();
    expect(open.stats()).toMatchObject({ inFlight: 3, queued: 0 });
    await expect.poll(() => passes.map(({ exceeded }) => exceeded)).toEqual([undefined, undefined, 'shed']);
    for (const pass of passes) pass.leave();
  });

  it('have their places again when the exchanges end, even if one ends before its simulated wait', async () => {
    const { enter, open, limited } = observing();
    const [first, second] = [await enter(), await enter()];
    expect(limited.stats()).toMatchObject({ inFlight: 1, queued: 1 });
    second.leave();
    first.leave();
    await expect.poll(() => limited.stats()).toMatchObject({ inFlight: 0, queued: 0 });
    expect(open.stats()).toMatchObject({ inFlight: 0 });
  });
});
