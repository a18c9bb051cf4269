import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { LedgerSnapshot } from '../../../src/engine/model/ledger-entry.ts';
import { createLogger } from '../../../src/engine/telemetry/logs.ts';
import { createDriftWatch } from '../../../src/features/release-drift/watch-drift.ts';
import { snapshotWith } from '../../workbench/report/report-fixtures.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const statistics = (release: string, counts: Readonly<Record<string, number>>) => ({
  operation: 'listIdeas',
  release,
  counts,
});
const drifted: LedgerSnapshot = {
  ...snapshotWith([]),
  statistics: [
    statistics('1.0', { 'status 200': 100, 'object /list/*': 100, 'field /list/*/plug': 100 }),
    statistics('1.1', { 'status 200': 100, 'object /list/*': 100 }),
  ],
};

function watch() {
  const lines: string[] = [];
  const logger = createLogger({ level: 'warn', clock: () => 0, stream: { write: (line) => void lines.push(line) } });
  const state = { snapshot: (): Promise<LedgerSnapshot> => Promise.resolve(drifted), accepted: false };
  const records = { snapshot: () => state.snapshot() };
  const drift = createDriftWatch({ records, isAccepted: () => state.accepted, logger });
  const found = () =>
    drift
      .series()
      .slice(1)
      .map(([labels, value]) => [labels[0], labels[1], value]);
  return { drift, state, lines, found };
}

it('compares the releases at once and every minute, and logs a difference once', async () => {
  const { drift, state, lines, found } = watch();
  expect(drift.series()).toEqual([[['none', 'none', 'none'], 0]]);
  drift.follow('1.1');
  await vi.advanceTimersByTimeAsync(0);
  expect(found()).toEqual([['listIdeas', 'field-gone', 1]]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(lines).toHaveLength(1);
  state.accepted = true;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(found()).toEqual([]);
});

it('goes on after records could not be read, until it is closed', async () => {
  const { drift, state, lines, found } = watch();
  state.snapshot = () => Promise.reject(new Error('away'));
  drift.follow('1.1');
  await vi.advanceTimersByTimeAsync(0);
  expect(lines.join('')).toContain('could not be compared');
  state.snapshot = () => Promise.resolve(drifted);
  await drift.close();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(found()).toEqual([]);
});
