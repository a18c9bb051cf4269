import { describe, expect, it } from 'vitest';
import { failures, type FailRule, parseFailRule } from '../../src/report/fail-on.ts';
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
  it('new: fails for what the baseline does not accept', () => {
    expect(failing('new')).toEqual(['2 distinct violations not in the baseline (--fail-on new)']);
    expect(failing('new', ['a'])).toEqual(['1 distinct violation not in the baseline (--fail-on new)']);
    expect(failing('new', ['a', 'b'])).toEqual([]);
  });

  it('new: fails for what was accepted until yesterday', () => {
    const report = reportOf(two, [
      acceptedWith({ fingerprint: 'a', expires: '2026-05-03' }),
      acceptedWith({ fingerprint: 'b' }),
    ]);
    expect(failures(report, [rule('new')])).toHaveLength(1);
  });

  it('categories: fails for any of them that is not accepted', () => {
    expect(failing('format,type')).toEqual(['1 distinct violation of format or type (--fail-on format,type)']);
    expect(failing('type', ['b'])).toEqual([]);
    expect(failing('enum')).toEqual([]);
  });

  it('count: fails from that many distinct violations on, and never for none', () => {
    expect([failing('count=2'), failing('count=3')].map(({ length }) => length)).toEqual([1, 0]);
    expect(failing('count=2', ['a'])).toEqual([]);
    expect([failing('count=0'), failing('count=0', ['a', 'b'])].map(({ length }) => length)).toEqual([1, 0]);
  });

  it('never fails for what only a candidate contract says', () => {
    expect(failures(reportOf(snapshotWith([entryWith({ candidate: 'newly-refused' })])), [rule('new')])).toEqual([]);
  });

  it.each([
    ['nev', /did you mean new/],
    ['mising', /did you mean missing/],
    ['count', /count=N/],
    ['count=-1', /count=N/],
    ['', /Categories: undocumented/],
  ])('says what is wrong with %j', (text, message) => {
    const parsed = parseFailRule(text);
    expect('fault' in parsed ? parsed.fault : '').toMatch(message);
  });
});
