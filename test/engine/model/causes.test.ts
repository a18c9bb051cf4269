import { describe, expect, it } from 'vitest';
import { countCauses } from '../../../src/engine/model/causes.ts';
import { REPORT_FORMATS } from '../../../src/workbench/report/formats.ts';
import type { Finding } from '../../../src/workbench/report/report.ts';
import { findingsOf } from '../../../src/workbench/report/report.ts';
import { acceptedWith, entryWith, PLAIN, reportOf, snapshotWith } from '../../workbench/report/report-fixtures.ts';

const print = (number: number) => `a${String(number).padStart(15, '0')}`;
const AUTHOR = 'resources/author.schema.json#/properties/reputation/type';

/** The same field of an author has the wrong type in eighteen places. */
const same = Array.from({ length: 18 }, (_, index) =>
  entryWith({
    fingerprint: print(index),
    operation: ['listQuestions', 'listIdeas', 'listArticles'][index % 3],
    category: 'type',
    keyword: 'type',
    schemaPath: index % 2 === 0 ? AUTHOR : AUTHOR.replace('.schema', '.projected.schema'),
    at: index % 2 === 0 ? '/list/*/author/reputation' : '/list/*/answers/*/author/reputation',
    message: 'reputation must be integer',
    count: index + 1,
  }),
);
const others = Array.from({ length: 46 }, (_, index) =>
  entryWith({ fingerprint: print(100 + index), at: `/list/*/field${index}`, message: `field${index} is missing` }),
);
const report = reportOf(snapshotWith([...same, ...others]));
const rendered = (format: string) => REPORT_FORMATS.get(format)?.report(report, PLAIN) ?? '';
const causesIn = (...entries: readonly Parameters<typeof entryWith>[0][]) =>
  countCauses(
    findingsOf(reportOf(snapshotWith(entries.map((one, at) => entryWith({ fingerprint: print(at), ...one }))))),
  );

describe('violations with one cause', () => {
  it('are counted as violations and as causes', () => {
    const findings: readonly Finding[] = findingsOf(report);
    expect([findings.length, countCauses(findings)]).toEqual([64, 47]);
    expect(rendered('table')).toContain('64 distinct violations with 47 causes in');
  });

  it('are one entry with the sum of their counts, and the other places are named', () => {
    for (const format of ['table', 'markdown'])
      expect(rendered(format).match(/reputation\s+must\s+be\s+integer/g), format).toHaveLength(1);
    expect(rendered('table')).toMatch(/ 171 .*\n(?:.*\n)+? *Also in 17 more places: /);
    expect(rendered('html').match(/<summary>reputation must be integer/g)).toHaveLength(1);
    expect(rendered('html')).toContain('(in 18 places)');
    expect(rendered('html').match(/<dt>same cause<\/dt>/g)).toHaveLength(17);
  });

  it('are all in the JSON report, with the same cause', () => {
    const { summary, violations } = JSON.parse(rendered('json')) as {
      summary: { causes: number };
      violations: { cause: string; keyword: string }[];
    };
    expect([summary.causes, violations.length]).toEqual([47, 64]);
    expect(new Set(violations.filter(({ keyword }) => keyword === 'type').map(({ cause }) => cause)).size).toBe(1);
  });

  it.each<[number, string, ...Parameters<typeof entryWith>[0][]]>([
    [1, 'the same statement in two operations', {}, { operation: 'listIdeas' }],
    [2, 'two names that one statement requires', { at: '/list/*/a' }, { at: '/list/*/b' }],
    [2, 'two statements about the same name', {}, { schemaPath: 'resources/other.schema.json#/required' }],
    [2, 'a request and a response', {}, { direction: 'request' }],
    [
      1,
      'an HTML page in two operations',
      { schemaPath: '', at: '', keyword: 'html' },
      { schemaPath: '', at: '', keyword: 'html', operation: 'listIdeas' },
    ],
    [
      2,
      'an HTML page with two statuses',
      { schemaPath: '', at: '', keyword: 'html' },
      { schemaPath: '', at: '', keyword: 'html', status: 404 },
    ],
    [
      2,
      'two undocumented paths',
      { schemaPath: '', check: 'undocumented', at: 'GET /a/x' },
      { schemaPath: '', check: 'undocumented', at: 'GET /b/x' },
    ],
  ])('%i: %s', (causes, _name, ...entries) => {
    expect(causesIn(...entries)).toBe(causes);
  });

  it('are separate if only one of them is accepted', () => {
    const entries = [entryWith({ fingerprint: 'a' }), entryWith({ fingerprint: 'b', operation: 'listIdeas' })];
    expect(countCauses(findingsOf(reportOf(snapshotWith(entries), [acceptedWith({ fingerprint: 'b' })])))).toBe(2);
  });
});
