import { describe, expect, it } from 'vitest';
import { parseFaults } from '../../../src/reference/faults/parse-faults.ts';
import { waitOutSlowness } from '../../../src/reference/faults/fault-plan.ts';

describe('waitOutSlowness', () => {
  it('does not wait for faults that are not slow', async () => {
    expect(await waitOutSlowness(parseFaults(['500', 'reset']), new AbortController().signal)).toBe(true);
  });

  it('waits the asked time', async () => {
    expect(await waitOutSlowness(parseFaults(['slow:1']), new AbortController().signal)).toBe(true);
  });

  it('ends at once when the signal does, before or during the wait', async () => {
    expect(await waitOutSlowness(parseFaults(['slow:600000']), AbortSignal.abort())).toBe(false);
    const leaving = new AbortController();
    const waiting = waitOutSlowness(parseFaults(['slow:600000']), leaving.signal);
    leaving.abort();
    expect(await waiting).toBe(false);
  });
});
