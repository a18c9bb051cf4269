import { describe, expect, it } from 'vitest';
import { waitForSlowRules } from '../../../src/reference/chaos/chaos-plan.ts';
import { parseChaos } from '../../../src/reference/chaos/parse-chaos.ts';

describe('waitForSlowRules', () => {
  it('does not wait for other rules', async () => {
    expect(await waitForSlowRules(parseChaos(['500', 'reset']), new AbortController().signal)).toBe(true);
  });

  it('waits for the configured time', async () => {
    expect(await waitForSlowRules(parseChaos(['slow:1']), new AbortController().signal)).toBe(true);
  });

  it('stops waiting when the signal aborts before or during the wait', async () => {
    expect(await waitForSlowRules(parseChaos(['slow:600000']), AbortSignal.abort())).toBe(false);
    const leaving = new AbortController();
    const waiting = waitForSlowRules(parseChaos(['slow:600000']), leaving.signal);
    leaving.abort();
    expect(await waiting).toBe(false);
  });
});
