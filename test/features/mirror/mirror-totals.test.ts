import { describe, expect, it } from 'vitest';
import { createMirrorCounts, type Compared } from '../../../src/features/mirror/mirror-counts.ts';
import {
  addTotals,
  LOST_TOTALS,
  MAX_SAMPLE,
  mergeTotals,
  type MirrorTotals,
  noTotals,
  totalsFrom,
  totalsJson,
} from '../../../src/features/mirror/mirror-totals.ts';
import { readinessOf } from '../../../src/features/mirror/readiness.ts';
import { createTestClock } from '../../builders/test-clock.ts';

const clock = createTestClock();
const cell = { operation: 'listIdeas', status: 200, role: 'standard', parameters: ['page'] };
const EQUAL: Compared = {
  outcome: 'equal',
  found: [],
  isRace: false,
  isUnconfirmed: false,
  undecided: 0,
  verdicts: { old: 'valid', new: 'valid' },
  seconds: { old: 0.02, new: 0.2 },
  versions: { contract: 'c1', release: 'r1' },
  caller: 1,
};
const different = (...found: readonly string[]): Compared => ({ ...EQUAL, outcome: 'different', found });

/** Counts comparisons and returns the totals. */
function counted(list: readonly Compared[], before: MirrorTotals = noTotals('s', 0)): MirrorTotals {
  const counts = createMirrorCounts('s', clock);
  for (const one of list) counts.compared(cell, one);
  return addTotals(before, counts.take());
}

const only = (totals: MirrorTotals, owners: Readonly<Record<string, string>> = {}) => {
  const [row] = readinessOf(totals, (fingerprint) => owners[fingerprint]);
  if (row === undefined) throw new Error('nothing was counted');
  return row;
};

describe('the totals of a mirror', () => {
  it('are read as they were written', () => {
    const counts = createMirrorCounts('s', clock);
    counts.compared(cell, different('f1'));
    counts.notMade(cell, 'stored page');
    const finding = { fingerprint: 'f1', keyword: 'k', at: '/a', message: 'm', verdicts: EQUAL.verdicts };
    counts.found(cell, finding, { old: 'null', new: 'absent', beside: [['a', 'null', 'absent']] });
    const totals = addTotals(noTotals('s', 5), counts.take());
    const text = JSON.stringify(totalsJson(totals));
    expect(totalsFrom(JSON.parse(text), 'totals')).toEqual(totals);
    expect(JSON.stringify(totalsJson(totalsFrom(JSON.parse(text), 'totals')))).toBe(text);
  });

  it.each([
    ['sums', [['key']], 'sums[0] must be a pair'],
    ['sums', [['key', -1]], 'sums[0] must be a key and a count'],
    ['callers', [['op', [[1, 'x']]]], 'callers[0][0] must be a list'],
    ['findings', [{ fingerprint: 'f' }], 'findings[0]'],
    ['since', 'now', 'must name its subject and beginning'],
  ])('are refused if %s is wrong', (name, value, message) => {
    const json = { ...totalsJson(noTotals('s', 0)), [name]: value };
    expect(() => totalsFrom(json, 'totals')).toThrow(message);
  });

  it('are added up, however often and in whatever order gateways merge them', () => {
    const base = counted([EQUAL, EQUAL]);
    const mine = counted([EQUAL, { ...EQUAL, caller: 2 }], base);
    const theirs = counted([different('f1')], base);
    const [one, other] = [mergeTotals(base, mine, theirs), mergeTotals(base, theirs, mine)];
    expect(only(one)).toMatchObject({ compared: 5, equal: 4, different: 1, callers: 2, noticingCallers: 1 });
    expect(totalsJson(one)).toEqual(totalsJson(other));
    // Merging once more adds nothing.
    expect(totalsJson(mergeTotals(one, one, one))).toEqual(totalsJson(one));
  });

  it('are never counted twice after a loss, but may be too low', () => {
    const mine = counted([EQUAL, EQUAL, EQUAL]);
    expect(only(mergeTotals(LOST_TOTALS, mine, counted([EQUAL]))).compared).toBe(3);
  });

  it('leave room for other counts, however many distinct differences a server has', () => {
    let totals = noTotals('s', 0);
    for (let batch = 0; batch < 40; batch += 1) {
      const counts = createMirrorCounts('s', clock);
      for (let at = 0; at < 1000; at += 1) {
        const fingerprint = `f${batch}-${at}`;
        const finding = { fingerprint, keyword: 'k', at: '', message: 'm', verdicts: EQUAL.verdicts };
        counts.found(cell, finding, { old: '', new: '', beside: [] });
      }
      expect(counts.pending().findings.size).toBe(300);
      const merged = mergeTotals(noTotals('s', 0), addTotals(noTotals('s', 0), counts.pending()), totals);
      totals = addTotals(totals, counts.take());
      expect(merged.sums.size).toBe(300);
    }
    expect(totals.sums.size).toBe(300);
  });

  it('are of a bounded size, whatever is counted', () => {
    const counts = createMirrorCounts('s', clock);
    for (let at = 0; at < 30_000; at += 1) {
      counts.compared({ ...cell, role: `role ${at}` }, { ...different(`f${at}`), caller: at * 7919 });
      counts.found(
        { ...cell, role: `role ${at}` },
        { fingerprint: `f${at}`, keyword: 'k', at: '/a', message: 'm', verdicts: EQUAL.verdicts },
        { old: 'null', new: 'absent' },
      );
    }
    const totals = addTotals(noTotals('s', 0), counts.take());
    expect(totals.sums.size).toBeLessThanOrEqual(20_000);
    expect([totals.callers.get('listIdeas')?.size, totals.findings.size]).toEqual([MAX_SAMPLE, 300]);
    expect(only(totals).different).toBe(30_000);
  });
});

describe('readiness', () => {
  it('counts as accepted what somebody has accepted by now, and names who', () => {
    const totals = counted([EQUAL, different('f1'), different('f1', 'f2')]);
    expect(only(totals)).toMatchObject({ different: 2, accepted: 0, owners: [] });
    expect(only(totals, { f1: 'web' })).toMatchObject({ accepted: 1, owners: ['web'] });
    expect(only(totals, { f1: 'web', f2: 'api' })).toMatchObject({ accepted: 2, owners: ['api', 'web'] });
  });

  it('never counts a leak as accepted, nor more differences than it can tell apart', () => {
    expect(only(counted([different('!f1')]), { f1: 'web', '!f1': 'web' })).toMatchObject({
      accepted: 0,
      noticingCallers: 1,
    });
    const many = Array.from({ length: 13 }, (_, at) => `f${at}`);
    const owners = Object.fromEntries(many.map((one) => [one, 'web']));
    expect(only(counted([different(...many)]), { ...owners, '*': 'web' })).toMatchObject({
      accepted: 0,
      noticingCallers: 1,
    });
  });

  it('bounds the share of callers apart from that of requests, because one caller can make most requests', () => {
    const list = Array.from({ length: 3_000 }, (_, at): Compared => ({ ...EQUAL, caller: at % 10 }));
    const row = only(counted(list));
    expect(row).toMatchObject({ compared: 3_000, callers: 10, sampledCallers: 10, noticingCallers: 0 });
    expect(row.atMost).toBeLessThan(0.001);
    expect(row.callersAtMost).toBeCloseTo(1 - 0.05 ** (1 / 10));
    const one = only(counted([...list, { ...different('f1'), caller: 3 }]));
    expect(one.noticingCallers).toBe(1);
    expect(one.callersAtMost).toBeGreaterThan(0.39);
    expect(only(counted([...list, { ...different('f1'), caller: 3 }]), { f1: 'web' }).noticingCallers).toBe(0);
  });

  it('estimates how many callers there are beyond the sample', () => {
    // Evenly distributed numbers, as keyed hashes are.
    const callers = Array.from({ length: 5_000 }, (_, at) => Math.floor(((at + 0.5) / 5_000) * 2 ** 32));
    const shuffled = callers.toSorted((a, b) => ((a * 7919) % 10_007) - ((b * 7919) % 10_007));
    const row = only(counted(shuffled.map((caller) => Object.assign({}, EQUAL, { caller }))));
    expect(row.sampledCallers).toBe(MAX_SAMPLE);
    expect(Math.abs(row.callers - 5_000)).toBeLessThan(50);
  });

  it('shows the response times as a distribution', () => {
    const { latency } = only(counted([EQUAL, { ...EQUAL, seconds: { old: 0.001, new: 60 } }]));
    expect(latency.old).toMatchObject({ count: 2, sum: 0.021 });
    expect(latency.old.buckets.slice(0, 4)).toEqual([1, 1, 2, 2]);
    expect(latency.new.buckets.at(-1)).toBe(1);
  });
});
