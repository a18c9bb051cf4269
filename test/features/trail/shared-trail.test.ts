import { expect, it, vi } from 'vitest';
import { openAlone } from '../../../src/engine/sharing/alone/open-alone.ts';
import type { Sharing } from '../../../src/engine/sharing/sharing.ts';
import { type AuditEntry } from '../../../src/features/trail/audit-entry.ts';
import { createAuditTrail } from '../../../src/features/trail/audit-trail.ts';
import { shareTrail } from '../../../src/features/trail/shared-trail.ts';
import { createTestClock } from '../../builders/test-clock.ts';

const entryAt = (at: number, more: Partial<AuditEntry> = {}): AuditEntry => ({
  at,
  action: 'purge',
  outcome: 'done',
  actor: 'token',
  way: 'api',
  ...more,
});

/** Returns the trails of two gateways that share the lines of the port, and those lines. */
function twoTrails() {
  const lines = openAlone(createTestClock()).lines('overrides-trail', 10_000, 1_000);
  const reach = { isReached: true };
  const sharing = {
    status: () => ({}) as NonNullable<ReturnType<Sharing['status']>>,
    lines: () => ({
      add: (line: string, at: number) => void (reach.isReached && lines.add(line, at)),
      read: async () => (reach.isReached ? lines.read() : undefined),
    }),
  };
  const open = (instance: string) =>
    shareTrail(
      createAuditTrail({ stored: [], files: undefined, onEntry: () => undefined, onError: () => undefined }),
      sharing,
      instance,
    );
  return { one: open('one'), two: open('two'), reach };
}

it('has the entries of all gateways in the order of their times, each with its gateway', async () => {
  const { one, two } = twoTrails();
  await two.record(entryAt(2000));
  await one.entries();
  await two.entries();
  await one.record(entryAt(1000));
  await one.entries();
  const expected = [
    [1000, 'one'],
    [2000, 'two'],
  ];
  for (const trail of [one, two])
    expect((await trail.entries()).map(({ at, gateway }) => [at, gateway])).toEqual(expected);
});

it('has an entry that every gateway makes only once', async () => {
  const { one, two } = twoTrails();
  for (const trail of [one, two]) await trail.record(entryAt(1000, { actor: 'portico', way: 'portico' }));
  await one.entries();
  expect(await two.entries()).toHaveLength(1);
});

it('sends its entries to the others once they can be reached again', async () => {
  vi.useFakeTimers();
  try {
    const { one, two, reach } = twoTrails();
    reach.isReached = false;
    await one.record(entryAt(1000));
    expect(await one.entries()).toHaveLength(1);
    reach.isReached = true;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await two.entries()).toMatchObject([{ at: 1000, gateway: 'one' }]);
    await one.close();
  } finally {
    vi.useRealTimers();
  }
});
