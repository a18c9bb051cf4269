import { describe, expect, it } from 'vitest';
import {
  bounded,
  keyOf,
  LOST_USAGE,
  mergeUsage,
  NO_USAGE,
  type Usage,
  usageFrom,
  usageJson,
  type UsageRow,
  withRows,
} from '../../../src/features/deprecation/usage.ts';

const DAY = 86_400_000;
const row = (caller: string, count: number, more: Partial<UsageRow> = {}): UsageRow => ({
  operation: 'listIdeas',
  part: 'operation',
  name: '',
  caller,
  count,
  firstSeen: 1000,
  lastSeen: 2000,
  ...more,
});
const usageOf = (...rows: readonly UsageRow[]): Usage =>
  withRows(
    NO_USAGE,
    rows.map((one) => [keyOf(one), one]),
  );
const counts = ({ rows }: Usage) => Object.fromEntries([...rows.values()].map(({ caller, count }) => [caller, count]));

describe('counts that are added', () => {
  it('add up, and keep the first and the last time', () => {
    const total = withRows(usageOf(row('a', 2)), [
      [keyOf(row('a', 3)), row('a', 3, { firstSeen: 500, lastSeen: 9000 })],
    ]);
    expect([...total.rows.values()]).toEqual([row('a', 5, { firstSeen: 500, lastSeen: 9000 })]);
  });

  it('are apart for each operation, part, name and caller', () => {
    const rows = [
      row('a', 1),
      row('b', 1),
      row('a', 1, { operation: 'listQuestions' }),
      row('a', 1, { part: 'parameter', name: 'sort' }),
      row('a', 1, { part: 'field', name: 'sort' }),
    ];
    expect(usageOf(...rows).rows.size).toBe(5);
  });
});

describe('the bounds of the counts', () => {
  const limits = {
    maxRows: 2,
    retentionDays: 10,
    isDeprecated: ({ operation }: Pick<UsageRow, 'operation'>) => operation === 'listIdeas',
  };

  it('remove claimed names first, then what is not deprecated, then the oldest, and count what they removed', () => {
    const rows = [
      row('~claimed', 900, { lastSeen: 9000 }),
      row('other', 5, { operation: 'listQuestions', lastSeen: 8000 }),
      row('old', 1, { lastSeen: 3000 }),
      row('new', 1, { lastSeen: 4000 }),
    ];
    const kept = (maxRows: number) => {
      const result = bounded(usageOf(...rows), { ...limits, maxRows }, 10_000);
      return [Object.keys(counts(result)).toSorted(), result.removed];
    };
    expect(kept(4)).toEqual([['new', 'old', 'other', '~claimed'], 0]);
    expect(kept(3)).toEqual([['new', 'old', 'other'], 1]);
    expect(kept(2)).toEqual([['new', 'old'], 2]);
    expect(kept(1)).toEqual([['new'], 3]);
  });

  it('remove a row once its last request is too old, which is not an excess', () => {
    const usage = usageOf(row('a', 1, { lastSeen: 0 }), row('b', 1, { lastSeen: 1 }));
    expect(counts(bounded(usage, limits, 10 * DAY))).toEqual({ a: 1, b: 1 });
    const later = bounded(usage, limits, 10 * DAY + 1);
    expect([counts(later), later.removed]).toEqual([{ b: 1 }, 0]);
  });
});

describe('counts of two gateways', () => {
  const base = usageOf(row('a', 10), row('gone', 4));

  it('are added, each counted once', () => {
    const mine = usageOf(row('a', 13), row('gone', 4), row('mine', 1));
    const theirs = usageOf(row('a', 15), row('gone', 4), row('theirs', 2));
    expect(counts(mergeUsage(base, mine, theirs))).toEqual({ a: 18, gone: 4, mine: 1, theirs: 2 });
  });

  it('do not bring back a row that the other has removed, except for what was counted since', () => {
    const theirs = usageOf(row('a', 10));
    expect(counts(mergeUsage(base, base, theirs))).toEqual({ a: 10 });
    expect(counts(mergeUsage(base, usageOf(row('a', 10), row('gone', 6)), theirs))).toEqual({ a: 10, gone: 2 });
  });

  it('are never counted twice after the shared ones were lost', () => {
    const mine = { ...usageOf(row('a', 13), row('mine', 1)), removed: 3 };
    const theirs = { ...usageOf(row('a', 15)), removed: 2 };
    const merged = mergeUsage(LOST_USAGE, mine, theirs);
    expect([counts(merged), merged.removed]).toEqual([{ a: 15, mine: 1 }, 3]);
  });

  it('end with the same text, whoever merges first', () => {
    const [one, other] = [usageOf(row('b', 2), row('a', 11), row('gone', 4)), usageOf(row('gone', 4), row('a', 12))];
    const [first, second] = [mergeUsage(base, one, other), mergeUsage(base, other, one)];
    expect(JSON.stringify(usageJson(first))).toBe(JSON.stringify(usageJson(second)));
  });
});

describe('stored counts', () => {
  it('are read as they were', () => {
    const usage = { ...usageOf(row('a', 2), row('b', 1, { part: 'field', name: 'id' })), removed: 7 };
    expect(usageFrom(JSON.parse(JSON.stringify(usageJson(usage))), 'usage')).toEqual(usage);
  });

  it.each([
    [{ rows: [] }, 'usage.removed must be a whole number'],
    [{ removed: 0, rows: {} }, 'usage.rows must be a list'],
    [{ removed: 0, rows: Array.from({ length: 20_001 }, () => 0) }, 'usage.rows must be a list'],
    [{ removed: 0, rows: [['x', 'header', '', 'a', 1, 1, 1]] }, 'usage.rows[0] must name'],
    [{ removed: 0, rows: [['x', 'operation', '', 'a'.repeat(201), 1, 1, 1]] }, 'usage.rows[0] must name'],
    [{ removed: 0, rows: [['x', 'operation', '', 'a', -1, 1, 1]] }, 'usage.rows[0] must contain counts'],
  ])('are refused if they are damaged: %#', (value, message) => {
    expect(() => usageFrom(value, 'usage')).toThrow(message);
  });
});
