import { describe, expect, it } from 'vitest';
import { compareReports } from '../../../src/workbench/report/comparison.ts';
import { REPORT_FORMATS } from '../../../src/workbench/report/formats.ts';
import { acceptedWith, entryWith, PLAIN, reportOf, snapshotWith } from './report-fixtures.ts';

const print = (letter: string) => `${letter}000000000000000`;
const before = snapshotWith([
  entryWith({ fingerprint: print('a'), count: 10 }),
  entryWith({ fingerprint: print('c') }),
  entryWith({ fingerprint: print('e') }),
  entryWith({ fingerprint: print('f'), operation: 'listIdeas' }),
]);
const after = snapshotWith([
  entryWith({ fingerprint: print('a'), count: 20 }),
  entryWith({ fingerprint: print('b') }),
  entryWith({ fingerprint: print('d'), operation: 'listActions', category: 'type' }),
  entryWith({ fingerprint: print('e') }),
]);
const accepted = [acceptedWith({ fingerprint: print('b') })];
const comparison = compareReports(['1.0', reportOf(before)], ['1.1', reportOf(after, accepted)]);
const nothing = compareReports(['1.0', reportOf(snapshotWith([]))], ['1.1', reportOf(snapshotWith([]))]);
const rendered = (format: string, of = comparison): string => REPORT_FORMATS.get(format)?.comparison(of, PLAIN) ?? '';
const numbers = (text: string, attribute: string) =>
  [...text.matchAll(new RegExp(` ${attribute}="(\\d+)"`, 'g'))].map(([, count]) => Number(count));

describe('a comparison as JUnit XML', () => {
  const xml = rendered('junit');

  it('fails for new violations, skips accepted ones among them, and passes all others', () => {
    expect(xml).toContain('<testsuite name="New" tests="2" failures="1" errors="0" skipped="1"');
    expect(xml).toContain('<testsuite name="Gone" tests="1" failures="0" errors="0" skipped="0"');
    expect(xml).toContain('<testsuite name="No longer checked" tests="1" failures="0" errors="0" skipped="0"');
    expect(xml.match(/<failure /g)).toHaveLength(1);
    expect(xml).toMatch(/a000000000000000\]" time="0"><system-out>More frequent: 10% → 20%<\/system-out>/);
  });

  it('skips new advisories, with their details', () => {
    const advisory = reportOf(snapshotWith([entryWith({ category: 'advisory', keyword: 'x-expected' })]));
    const text = rendered('junit', compareReports(['1.0', reportOf(snapshotWith([]))], ['1.1', advisory]));
    expect(text).toContain('<testsuite name="New" tests="1" failures="0" errors="0" skipped="1"');
    expect(text).not.toContain('<failure');
  });

  it('has correct totals', () => {
    for (const attribute of ['tests', 'failures', 'skipped']) {
      const [all, ...suites] = numbers(xml, attribute);
      expect(all).toBe(suites.reduce((sum, one) => sum + one, 0));
    }
    expect(numbers(xml, 'tests')[0]).toBe(xml.match(/<testcase /g)?.length);
    expect(numbers(rendered('junit', nothing), 'tests')).toEqual([1, 1]);
  });
});

it('a comparison as SARIF shows the change of each result', () => {
  const { version, runs } = JSON.parse(rendered('sarif')) as {
    version: string;
    runs: { results: { baselineState: string; partialFingerprints: object; suppressions?: object[] }[] }[];
  };
  const results = runs[0]?.results ?? [];
  expect(version).toBe('2.1.0');
  expect(
    results.map(
      ({ baselineState, partialFingerprints }) => `${baselineState} ${String(Object.values(partialFingerprints))}`,
    ),
  ).toEqual([
    `new ${print('d')}`,
    `new ${print('b')}`,
    `updated ${print('a')}`,
    `absent ${print('c')}`,
    `unchanged ${print('f')}`,
    `unchanged ${print('e')}`,
  ]);
  // `b` is accepted, so it comes after `d`, even though `d` has a less serious category.
  expect(results[1]?.suppressions).toHaveLength(1);
  expect(JSON.parse(rendered('sarif', nothing))).toMatchObject({ runs: [{ results: [] }] });
});

it('a comparison as HTML is one page without external resources', () => {
  const html = rendered('html');
  expect(html).toMatch(
    /New \(2\)[\s\S]*More frequent \(1\)[\s\S]*Gone \(1\)[\s\S]*No longer checked \(1\)[\s\S]*About as frequent \(1\)/,
  );
  expect(html).toContain("default-src 'none'");
  expect(html).not.toMatch(/\b(?:src|href|url)\s*[=(]/);
  expect(rendered('html', nothing)).toContain('There are no violations on either side.');
});

// In SARIF, this text is the message of a result. In JSON, the information is in a member named `unasked`.
it.each([...REPORT_FORMATS].flatMap(([format, { kind }]) => (kind === 'data' && format !== 'sarif' ? [] : [format])))(
  '%s distinguishes a side without requests from a side without the violation',
  (format) => {
    const text = rendered(format);
    // On the second side, there were requests for listQuestions but none for listIdeas.
    expect(text).toContain('5% → not requested');
    expect(text).toContain('5% → –');
  },
);

describe('a violation that only the first side has', () => {
  const counts = { passed: 0, reported: 5, refused: 0 };
  const sides = (checks: object) =>
    [
      ['1.0', reportOf(snapshotWith([entryWith()], { traffic: [traffic({ responses: counts })] }))] as const,
      ['1.1', reportOf(snapshotWith([], { traffic: [traffic(checks)] }))] as const,
    ] as const;
  const traffic = (checks: object) => ({ operation: 'listQuestions', release: '1.0', requests: 100, checks });

  it('is gone if its check ran on the second side', () => {
    const [one, other] = sides({ responses: { passed: 100, reported: 0, refused: 0 } });
    expect(compareReports(one, other).findings).toMatchObject([{ change: 'gone' }]);
  });

  it('is not gone, but no longer checked, if its check did not run', () => {
    const [one, other] = sides({ requests: counts });
    expect(compareReports(one, other).findings).toMatchObject([
      { change: 'unchecked', reason: 'responses did not run' },
    ]);
  });

  it('is not gone if the configuration no longer reports it, and every format for people says why', () => {
    const [one, other] = sides({ responses: counts });
    const of = compareReports(one, other, () => 'allowed by parameters.allow');
    expect(of.findings).toMatchObject([{ change: 'unchecked' }]);
    for (const format of ['table', 'markdown', 'html', 'junit'])
      expect(rendered(format, of), format).toMatch(/No longer checked[^]*allowed by parameters/);
  });
});
