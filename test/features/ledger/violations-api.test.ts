import { describe, expect, it } from 'vitest';
import {
  comparatorOf,
  filterViolations,
  readAcceptRequest,
  type ViolationFilter,
} from '../../../src/features/ledger/violations-api.ts';
import { isNew, violationRows } from '../../../src/features/ledger/violation-rows.ts';
import type { LedgerSnapshot } from '../../../src/engine/model/ledger-entry.ts';
import { UNDOCUMENTED_FIELD } from '../../../src/engine/model/violation.ts';
import { entryWith, rowWith } from './violation-fixtures.ts';

describe('a request to accept a violation', () => {
  const about = { fingerprint: 'f', summary: 's', now: Date.UTC(2026, 4, 4, 12) };
  const good = { reason: 'known', owner: 'team', expires: '2026-12-31' };

  it('becomes an entry in the baseline', () => {
    expect(readAcceptRequest(good, about)).toEqual({ ok: true, accepted: { fingerprint: 'f', summary: 's', ...good } });
  });

  it('may have no last day, or today', () => {
    expect(readAcceptRequest({ ...good, expires: '' }, about)).toMatchObject({ accepted: { expires: undefined } });
    expect(readAcceptRequest({ ...good, expires: null }, about)).toMatchObject({ accepted: { expires: undefined } });
    expect(readAcceptRequest({ ...good, expires: '2026-05-04' }, about)).toMatchObject({ ok: true });
  });

  it('is reduced to one line of text', () => {
    expect(readAcceptRequest({ ...good, reason: '  a\n\tb\u0000c ' }, about)).toMatchObject({
      accepted: { reason: 'a b c' },
    });
  });

  it.each([
    [null, 'reason'],
    [[], 'reason'],
    [{ ...good, reason: ' ' }, 'reason'],
    [{ ...good, reason: 'x'.repeat(501) }, 'reason'],
    [{ ...good, reason: { toString: 'x' } }, 'reason'],
    [{ ...good, owner: '' }, 'owner'],
    [{ ...good, owner: 'x'.repeat(101) }, 'owner'],
    [{ ...good, expires: '2026-05-03' }, 'expires'],
    [{ ...good, expires: '2026-02-30' }, 'expires'],
    [{ ...good, expires: 'tomorrow' }, 'expires'],
    [{ ...good, expires: 29991231 }, 'expires'],
    [{ ...good, expires: ['2999-12-31'] }, 'expires'],
    [{ ...good, expires: false }, 'expires'],
  ])('is refused, naming the field: %j', (body, field) => {
    expect(readAcceptRequest(body, about)).toMatchObject({ ok: false, field });
  });
});

describe('the order of violations', () => {
  const rows = [
    rowWith({ fingerprint: 'a', count: 90, keyword: UNDOCUMENTED_FIELD, category: 'undocumented' }),
    rowWith({ fingerprint: 'b', count: 70, accepted: { expired: false } }),
    rowWith({ fingerprint: 'c', count: 3 }),
    rowWith({ fingerprint: 'd', count: 8, lastSeenAt: 1 }),
    rowWith({ fingerprint: 'e', count: 80, candidate: 'newly-refused' }),
  ];
  const sorted = (sort: 'impact' | 'count' | 'last', order: 'up' | 'down' = 'down') =>
    rows
      .toSorted(comparatorOf({ sort, order }))
      .map(({ fingerprint }) => fingerprint)
      .join('');

  it('is by impact: new ones that can refuse a message first, then by the number of requests', () => {
    expect(sorted('impact')).toBe('dcaeb');
    expect(sorted('impact', 'up')).toBe('beacd');
  });

  it('can be any column, in both directions, and equal rows are ordered by impact', () => {
    expect([sorted('count'), sorted('count', 'up')]).toEqual(['aebdc', 'cdbea']);
    expect(sorted('last')).toBe('caebd');
  });
});

describe('the rows of violations', () => {
  const NOW = Date.UTC(2026, 4, 4, 12);
  const traffic = (operation: string | undefined, requests: number, release = 'a') => {
    return { operation, release, requests, checks: {} };
  };
  const snapshot = (parts: Partial<LedgerSnapshot>): LedgerSnapshot => {
    return {
      takenAt: NOW,
      since: undefined,
      releases: [],
      entries: [],
      traffic: [],
      statistics: [],
      dropped: 0,
      ...parts,
    };
  };
  const accepted = (expires: string | undefined) => {
    return { accepted: [{ fingerprint: 'f', reason: 'known', owner: 'me', expires, summary: undefined }] };
  };

  it('show the share of the operation’s requests over all releases', () => {
    const entries = [
      entryWith({ operation: 'one', count: 5 }),
      entryWith({ operation: undefined, count: 2 }),
      entryWith({ operation: 'never called' }),
      entryWith({ operation: 'two', count: 9 }),
    ];
    const seen = [traffic('one', 10), traffic('one', 10, 'b'), traffic(undefined, 4), traffic('two', 3)];
    const rows = violationRows(snapshot({ entries, traffic: seen }), undefined, NOW);
    // One request can violate a rule several times.
    expect(rows.map(({ share }) => share)).toEqual([0.25, 0.5, undefined, 1]);
  });

  it('show counts and shares of a single release if one is given', () => {
    const entries = [entryWith({ operation: 'one', count: 5, releases: { a: 1, b: 4 } })];
    const seen = [traffic('one', 10), traffic('one', 40, 'b')];
    const [row] = violationRows(snapshot({ entries, traffic: seen }), undefined, NOW, 'b');
    expect(row).toMatchObject({ count: 4, share: 0.1, releases: { a: 1, b: 4 } });
  });

  it.each([
    ['without end', undefined, false],
    ['until today', '2026-05-04', false],
    ['until yesterday', '2026-05-03', true],
  ])('know what is accepted %s', (_name, expires, expired) => {
    const entries = [entryWith({ fingerprint: 'f' }), entryWith({ fingerprint: 'other' })];
    const [row, other] = violationRows(snapshot({ entries }), accepted(expires), NOW);
    expect(row?.accepted).toMatchObject({ reason: 'known', expired });
    expect([row, other].map((one) => isNew(one ?? { accepted: undefined }))).toEqual([expired, true]);
  });

  it('contain no samples', () => {
    const [row] = violationRows(snapshot({ entries: [entryWith()] }), undefined, NOW);
    expect(row).not.toHaveProperty('samples');
  });
});

describe('the filters of violations', () => {
  const ANY: ViolationFilter = {
    category: '',
    direction: '',
    operation: '',
    check: '',
    release: '',
    state: '',
    text: '',
  };
  const rows = [
    rowWith({ fingerprint: 'a', category: 'type', operation: 'listIdeas', at: '/list/*/id' }),
    rowWith({ fingerprint: 'b', category: 'missing', operation: 'listIdeas', accepted: { expired: false } }),
    rowWith({ fingerprint: 'c', category: 'type', operation: undefined, accepted: { expired: true } }),
    rowWith({ fingerprint: 'd', category: 'type', direction: 'request', check: 'requests', releases: { old: 1 } }),
  ];
  const found = (filter: Partial<ViolationFilter>) =>
    filterViolations(rows, { ...ANY, ...filter }).rows.map(({ fingerprint }) => fingerprint);

  it.each<[Partial<ViolationFilter>, string[]]>([
    [{}, ['a', 'b', 'c', 'd']],
    [{ category: 'type' }, ['a', 'c', 'd']],
    [{ operation: 'listIdeas' }, ['a', 'b']],
    [{ operation: 'undocumented' }, ['c']],
    [{ direction: 'request' }, ['d']],
    [{ check: 'responses', category: 'type' }, ['a', 'c']],
    [{ state: 'new' }, ['a', 'c', 'd']],
    [{ state: 'accepted' }, ['b']],
    [{ release: 'old' }, ['d']],
    [{ release: 'constructor' }, []],
    [{ text: 'LIST/*/ID' }, ['a']],
    [{ text: 'nothing' }, []],
  ])('select the matching rows for %j', (filter, left) => {
    expect(found(filter)).toEqual(left);
  });

  it('show for each choice how many rows match it and all other filters', () => {
    const { facets } = filterViolations(rows, { ...ANY, category: 'type', state: 'new' });
    expect(facets.category).toEqual({ type: 3 });
    expect(facets.state).toEqual({ new: 3 });
    expect(facets.operation).toEqual({ listIdeas: 1, undocumented: 1, listQuestions: 1 });
    expect(facets.direction).toEqual({ request: 1, response: 2 });
  });
});
