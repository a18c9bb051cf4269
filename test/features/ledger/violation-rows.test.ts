import { describe, expect, it } from 'vitest';
import { type CheckLevel, forEachCheck } from '../../../src/engine/model/checks.ts';
import { causeRows, type ViolationRow } from '../../../src/features/ledger/violation-rows.ts';
import { comparatorOf } from '../../../src/features/ledger/violations-api.ts';
import { rowWith } from './violation-fixtures.ts';

const LEVELS: Readonly<Record<string, CheckLevel>> = { listIdeas: 'enforce', listArticles: 'off', '': 'enforce' };

const causesOf = (rows: readonly ViolationRow[], open = '') =>
  causeRows(rows, {
    compare: comparatorOf({ sort: 'impact', order: 'down' }),
    checksOf: (operation) => forEachCheck(() => LEVELS[operation] ?? 'report'),
    open,
  });

const hoursOf = (last: number) => [...Array.from({ length: 23 }, () => 0), last];

describe('a cause in the list of violations', () => {
  const rows: readonly ViolationRow[] = [
    {
      ...rowWith({ fingerprint: 'c', count: 5, callers: 3, firstSeenAt: 200, lastSeenAt: 300 }),
      requests: 10,
      history: { hours: hoursOf(5), firstRelease: '2' },
    },
    {
      ...rowWith({ fingerprint: 'b', count: 9, callers: 2, operation: 'listIdeas', firstSeenAt: 250, lastSeenAt: 290 }),
      requests: 20,
      history: { hours: hoursOf(9), firstRelease: '2' },
    },
    {
      ...rowWith({ fingerprint: 'a', count: 1, at: '/*/title', firstSeenAt: 100, lastSeenAt: 110 }),
      requests: 10,
      history: { hours: hoursOf(0), firstRelease: '1' },
    },
  ];

  it('sums up its violations: their requests, operations, strictest level, hours, first and last occurrence', () => {
    expect(causesOf(rows)).toHaveLength(1);
    expect(causesOf(rows)[0]).toMatchObject({
      cause: 'a',
      // Of the first violation, which is the most frequent one.
      fingerprint: 'b',
      violations: 3,
      operations: 2,
      count: 15,
      // Of the 30 requests to its operations, 10 are not counted twice for two violations.
      requests: 30,
      share: 0.5,
      callers: 3,
      level: 'enforce',
      firstSeenAt: 100,
      lastSeenAt: 300,
      history: { hours: hoursOf(14), firstRelease: '1' },
      members: undefined,
    });
  });

  it('contains its violations, each with its own level, if any of them is open', () => {
    for (const open of ['a', 'b', 'c'])
      expect(causesOf(rows, open)[0]?.members?.map(({ fingerprint, level }) => [fingerprint, level])).toEqual([
        ['b', 'enforce'],
        ['c', 'report'],
        ['a', 'report'],
      ]);
    expect(causesOf(rows, 'other')[0]?.members).toBeUndefined();
  });

  it('is apart from the same violation with another state', () => {
    const accepted = rowWith({ fingerprint: 'd', accepted: { expired: false } });
    const expired = rowWith({ fingerprint: 'e', accepted: { expired: true } });
    expect(
      causesOf([...rows, accepted, expired]).map(({ fingerprint, violations }) => [fingerprint, violations]),
    ).toEqual([
      ['b', 3],
      ['e', 1],
      ['d', 1],
    ]);
  });

  it.each<[string, Parameters<typeof rowWith>[0], CheckLevel | undefined]>([
    ['of an operation', { operation: 'listIdeas' }, 'enforce'],
    ['of an operation whose check is off', { operation: 'listArticles' }, 'off'],
    ['of an undocumented path', { operation: undefined, check: 'undocumented' }, 'enforce'],
    ['of a missing response', { check: 'upstream', operation: 'listIdeas' }, undefined],
    ['of a server error', { status: 503, operation: 'listIdeas' }, undefined],
    ['of a status change', { check: 'errors', operation: 'listIdeas' }, undefined],
    ['of an undocumented field', { category: 'undocumented', operation: 'listIdeas' }, undefined],
    ['of an advisory', { category: 'advisory', operation: 'listIdeas' }, undefined],
    ['of another server', { category: 'difference', operation: 'listIdeas' }, undefined],
    ['of a release', { category: 'release-drift', operation: 'listIdeas' }, undefined],
    ['of the shadow contract', { candidate: 'newly-refused', operation: 'listIdeas' }, undefined],
  ])('has a level only if it can lead to a refusal: %s', (_name, parts, level) => {
    expect(causesOf([rowWith(parts)])[0]?.level).toBe(level);
  });
});
