import { describe, expect, it } from 'vitest';
import { findingsOf } from '../../../src/workbench/report/report.ts';
import { isExpired } from '../../../src/workbench/report/report.ts';
import { shortLines } from '../../../src/workbench/report/table-report.ts';
import { acceptedWith, entryWith, reportOf, snapshotWith, TAKEN_AT } from './report-fixtures.ts';

describe('toReport', () => {
  it('groups by category in the order of Contract-Status, with new and frequent violations first', () => {
    const report = reportOf(
      snapshotWith([
        entryWith({ fingerprint: 'a', count: 1 }),
        entryWith({ fingerprint: 'b', count: 9, category: 'type' }),
        entryWith({ fingerprint: 'c', count: 80 }),
        entryWith({ fingerprint: 'd', count: 7, category: 'undocumented' }),
        entryWith({ fingerprint: 'e', count: 90 }),
      ]),
      [acceptedWith({ fingerprint: 'e' })],
    );
    expect(
      report.groups.map(({ category, findings }) => [category, findings.map((one) => one.entry.fingerprint)]),
    ).toEqual([
      ['missing', ['c', 'a', 'e']],
      ['type', ['b']],
      ['undocumented', ['d']],
    ]);
  });

  it('ranks all violations by what they break: accepted ones and advisories are last, however frequent they are', () => {
    const report = reportOf(
      snapshotWith([
        entryWith({ fingerprint: 'accepted', count: 100, category: 'protocol', keyword: 'content-type' }),
        entryWith({ fingerprint: 'advisory', count: 90, category: 'undocumented', keyword: 'undocumented-field' }),
        entryWith({ fingerprint: 'parameter', count: 1, category: 'undocumented', keyword: 'unknown' }),
        ...(['semantic', 'bounds', 'enum', 'format', 'type', 'missing', 'protocol'] as const).map((category) =>
          entryWith({ fingerprint: category, count: 1, category, keyword: 'rule' }),
        ),
      ]),
      [acceptedWith({ fingerprint: 'accepted' })],
    );
    const ranked = 'protocol missing type format enum bounds semantic parameter advisory accepted'.split(' ');
    expect(findingsOf(report).map(({ entry }) => entry.fingerprint)).toEqual(ranked);
    expect(shortLines(report).map((line) => / (\S+)$/.exec(line)?.[1])).toEqual(['accepted.', ...ranked]);
  });

  it('calculates the share of the traffic, but not without traffic', () => {
    const known = reportOf(snapshotWith([entryWith({ count: 25 })]));
    expect(findingsOf(known)[0]).toMatchObject({ requests: 100, share: 0.25 });
    const unknown = reportOf(snapshotWith([entryWith()], { traffic: [] }));
    expect(findingsOf(unknown)[0]?.share).toBeUndefined();
  });

  it('accepts until the end of the last day, and lists expired and unused acceptances', () => {
    const [today, yesterday] = [acceptedWith({ expires: '2026-05-04' }), acceptedWith({ expires: '2026-05-03' })];
    expect([isExpired(today, TAKEN_AT), isExpired(yesterday, TAKEN_AT)]).toEqual([false, true]);
    const report = reportOf(snapshotWith([entryWith()]), [yesterday, acceptedWith({ fingerprint: 'gone' })]);
    expect(findingsOf(report)[0]?.baselineState).toBe('expired');
    expect(report.expired).toEqual([yesterday]);
    expect(report.noLongerSeen.map(({ fingerprint }) => fingerprint)).toEqual(['gone']);
  });

  it('does not accept a violation with an invalid last day', () => {
    expect(isExpired(acceptedWith({ expires: 'next summer' }), TAKEN_AT)).toBe(true);
  });

  it('does not list unused acceptances if the scope is limited', () => {
    const report = reportOf(snapshotWith([]), [acceptedWith()], { operation: 'listIdeas' });
    expect(report.noLongerSeen).toEqual([]);
  });

  it('counts one release only', () => {
    const entry = entryWith({ count: 9, releases: { '1.0': 6, '1.1': 3 } });
    const traffic = [
      { operation: 'listQuestions', release: '1.0', requests: 60, checks: {} },
      { operation: 'listQuestions', release: '1.1', requests: 10, checks: {} },
    ];
    const report = reportOf(snapshotWith([entry], { traffic, releases: ['1.0', '1.1'] }), [], { release: '1.1' });
    expect(findingsOf(report)[0]).toMatchObject({ entry: { count: 3 }, requests: 10, share: 0.3 });
    expect(report.releases).toEqual(['1.1']);
  });

  it('separates differences under the shadow contract', () => {
    const report = reportOf(snapshotWith([entryWith({ candidate: 'newly-refused' })]));
    expect(findingsOf(report)).toEqual([]);
    expect(report.shadowDifferences).toHaveLength(1);
  });
});
