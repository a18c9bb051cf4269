import { describe, expect, it } from 'vitest';
import { UNDOCUMENTED_FIELD } from '../../../src/engine/model/violation.ts';
import { failures, type FailRule, parseFailRule } from '../../../src/workbench/report/fail-on.ts';
import { acceptedWith, entryWith, reportOf, snapshotWith } from './report-fixtures.ts';

const rule = (text: string): FailRule => {
  const parsed = parseFailRule(text);
  if ('fault' in parsed) throw new Error(parsed.fault);
  return parsed;
};

const two = snapshotWith([entryWith({ fingerprint: 'a' }), entryWith({ fingerprint: 'b', category: 'type' })]);
const failing = (text: string, accepted: readonly string[] = []) =>
  failures(
    reportOf(
      two,
      accepted.map((fingerprint) => acceptedWith({ fingerprint })),
    ),
    [rule(text)],
  );

describe('the rules of --fail-on', () => {
  it('new fails for violations that the baseline does not accept', () => {
    expect(failing('new')).toEqual(['2 distinct violations not in the baseline (--fail-on new)']);
    expect(failing('new', ['a'])).toEqual(['1 distinct violation not in the baseline (--fail-on new)']);
    expect(failing('new', ['a', 'b'])).toEqual([]);
  });

  it('new fails for violations whose acceptance expired yesterday', () => {
    const report = reportOf(two, [
      acceptedWith({ fingerprint: 'a', expires: '2026-05-03' }),
      acceptedWith({ fingerprint: 'b' }),
    ]);
    expect(failures(report, [rule('new')])).toHaveLength(1);
  });

  it('a list of categories fails for violations of these categories that are not accepted', () => {
    expect(failing('format,type')).toEqual(['1 distinct violation of format or type (--fail-on format,type)']);
    expect(failing('type', ['b'])).toEqual([]);
    expect(failing('enum')).toEqual([]);
  });

  it('count fails for at least that many distinct violations, and never without any', () => {
    expect([failing('count=2'), failing('count=3')].map(({ length }) => length)).toEqual([1, 0]);
    expect(failing('count=2', ['a'])).toEqual([]);
    expect([failing('count=0'), failing('count=0', ['a', 'b'])].map(({ length }) => length)).toEqual([1, 0]);
  });

  it('advisories fail only a rule that names their category', () => {
    const report = reportOf(
      snapshotWith([
        entryWith({ fingerprint: 'a', category: 'advisory', keyword: 'x-expected' }),
        entryWith({ fingerprint: 'b', category: 'undocumented', keyword: UNDOCUMENTED_FIELD }),
      ]),
    );
    expect(['new', 'count=1', 'missing'].flatMap((text) => failures(report, [rule(text)]))).toEqual([]);
    expect(['advisory', 'undocumented'].flatMap((text) => failures(report, [rule(text)]))).toHaveLength(2);
  });

  // Neither an outage nor a status change can be cured in the contract, and an outage cannot be accepted: a gate must not
  // stay closed because of one.
  it('only the rule outages fails for failures of the upstream, and no rule for status changes', () => {
    const incidents = [
      entryWith({ fingerprint: 'a', check: 'upstream', category: 'protocol', keyword: 'circuit_open' }),
      entryWith({ fingerprint: 'b', status: 500, category: 'protocol' }),
      entryWith({ fingerprint: 'c', check: 'errors', category: 'advisory', status: 302, keyword: 'upstream_redirect' }),
    ];
    const report = reportOf(snapshotWith(incidents));
    expect(['new', 'count=1', 'protocol,advisory'].flatMap((text) => failures(report, [rule(text)]))).toEqual([]);
    expect(failures(report, [rule('outages')])).toEqual(['2 kinds of upstream failures (--fail-on outages)']);
    expect(failing('outages')).toEqual([]);
  });

  it('no rule fails for differences under the shadow contract', () => {
    expect(failures(reportOf(snapshotWith([entryWith({ candidate: 'newly-refused' })])), [rule('new')])).toEqual([]);
  });

  it.each([
    ['nev', /did you mean new/],
    ['mising', /did you mean missing/],
    ['count', /count=N/],
    ['count=-1', /count=N/],
    ['', /Categories: protocol, coding, missing/],
  ])('%j is rejected with a reason', (text, message) => {
    const parsed = parseFailRule(text);
    expect('fault' in parsed ? parsed.fault : '').toMatch(message);
  });
});
