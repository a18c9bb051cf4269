import { describe, expect, it } from 'vitest';
import { detailLines } from '../../src/report/detail-lines.ts';
import { REPORT_FORMATS } from '../../src/report/formats.ts';
import { findingsOf } from '../../src/report/report.ts';
import { renderTable, shortLines } from '../../src/report/table-report.ts';
import { parseBaseline } from '../../src/ledger/baseline/parse-baseline.ts';
import { compareReports } from '../../src/report/comparison.ts';
import { COMPARISON_FORMATS } from '../../src/report/render-comparison.ts';
import { acceptedWith, entryWith, HOSTILE, HOSTILE_REPORT, PLAIN, reportOf, snapshotWith } from './report-fixtures.ts';

const rendered = (format: string, report = HOSTILE_REPORT): string => REPORT_FORMATS.get(format)?.(report, PLAIN) ?? '';
// oxlint-disable-next-line no-control-regex -- it is what must not be there
const ACTING = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

describe('every format', () => {
  it.each([...REPORT_FORMATS.keys()])('%s holds no character that a terminal or a browser acts on', (format) => {
    const text = rendered(format);
    expect(text.length).toBeGreaterThan(500);
    expect(text).not.toMatch(ACTING);
    expect(text.isWellFormed()).toBe(true);
  });

  it.each(['markdown', 'junit', 'html'])('%s holds no tag that came from the wire', (format) => {
    expect(rendered(format)).not.toContain('<script');
    expect(rendered(format)).not.toContain(']]>');
  });

  it.each(['markdown', 'table'])('%s keeps what came from the wire on the line where it belongs', (format) => {
    expect(
      rendered(format)
        .split('\n')
        .filter((line) => /^(?:b\b|red\b)/.test(line)),
    ).toEqual([]);
  });

  it.each([...REPORT_FORMATS.keys()])('%s says plainly that there was no traffic', (format) => {
    const text = rendered(format, reportOf(snapshotWith([], { releases: [] })));
    if (format === 'json' || format === 'sarif') expect(JSON.parse(text)).toBeTypeOf('object');
    else expect(text).toContain('No traffic was seen');
  });
});

const widest = (columns: number) =>
  Math.max(
    ...(REPORT_FORMATS.get('table')?.(HOSTILE_REPORT, { ...PLAIN, columns }) ?? '')
      .split('\n')
      .map(({ length }) => length),
  );

describe('the table', () => {
  it('fits 80 columns, and uses 120 at most', () => {
    expect(widest(80)).toBeLessThanOrEqual(80);
    expect(widest(300)).toBeLessThanOrEqual(120);
  });

  it('has colours only where they were asked for', () => {
    expect(REPORT_FORMATS.get('table')?.(HOSTILE_REPORT, { ...PLAIN, colours: true })).toContain('\u001b[31m');
    expect(rendered('table')).not.toContain('\u001b');
  });
});

describe('Markdown', () => {
  it('has the same number of cells in every row', () => {
    const rows = rendered('markdown')
      .split('\n')
      .filter((line) => line.startsWith('| '));
    const cells = rows.map((row) => row.replaceAll(String.raw`\|`, '').split('|').length);
    expect(new Set(cells)).toEqual(new Set([7, 8, 6]));
    expect(rows.length).toBeGreaterThan(8);
  });

  it('fits a comment, and says when it left something out', () => {
    const many = Array.from({ length: 2_000 }, (_, at) =>
      entryWith({ fingerprint: `f${at}`, message: 'm'.repeat(200) }),
    );
    const text = rendered('markdown', reportOf(snapshotWith(many)));
    expect(text.length).toBeLessThan(65_536);
    expect(text).toMatch(/left out here/);
    const accepted = rendered(
      'markdown',
      reportOf(
        snapshotWith(many),
        many.map(({ fingerprint }) => acceptedWith({ fingerprint })),
      ),
    );
    expect(accepted.match(/<details>/g)?.length).toBe(accepted.match(/<\/details>/g)?.length);
  });
});

describe('the detail of a violation', () => {
  it('tells everything, and how to accept and how to mend', () => {
    const [finding] = findingsOf(reportOf(snapshotWith([entryWith({ suggestion: 'ask the team' })])));
    const text = finding === undefined ? '' : detailLines(finding).join('\n');
    for (const part of [
      '/list/*/title is missing',
      'schemas/resources/node.schema.json:7  #/required',
      '5 %',
      'req-1: a number',
      'ask the team',
      'about 2',
      '1.0 (5)',
      'accepted:',
      '$.components.schemas.Node.required',
      '"required: ["id"]'.slice(1),
    ])
      expect(text).toContain(part);
  });

  it.each(['detail', 'table'])(
    '%s: the lines that accept are a baseline once "accepted:" stands above them',
    (where) => {
      for (const report of [reportOf(snapshotWith([entryWith()])), HOSTILE_REPORT]) {
        const [finding] = findingsOf(report);
        const lines = where === 'table' ? renderTable(report, PLAIN).split('\n') : finding ? detailLines(finding) : [];
        const from = lines.findIndex((line) => line.startsWith('  - fingerprint: '));
        const rest = lines.slice(from);
        const to = rest.findIndex((line) => !line.startsWith('  '));
        const copied = rest.slice(0, to < 0 ? undefined : to);
        const parsed = parseBaseline(['accepted:', ...copied].join('\n'), 'b.yaml');
        expect(parsed.faults).toEqual([]);
        expect(parsed.baseline?.accepted).toMatchObject([{ fingerprint: finding?.entry.fingerprint }]);
      }
    },
  );

  it('names what a denied caller would have needed, and no header field', () => {
    const denied = {
      check: 'permissions',
      direction: 'request',
      keyword: 'permission-denied',
      location: 'header',
    } as const;
    const [finding] = findingsOf(
      reportOf(snapshotWith([entryWith({ ...denied, at: 'View list idea', schemaPath: '' })])),
    );
    const place = { file: 'openapi.yaml', pointer: '', line: 1, schema: undefined };
    const text = finding === undefined ? '' : detailLines({ ...finding, place }).join('\n');
    expect(text).toContain('request, needs View list idea');
    expect(text).toContain('Mend it: the roles file');
    expect(text).not.toContain('header');
  });

  it.each([
    [{ check: 'undocumented', direction: 'request', category: 'undocumented' }, 'undocumented.allow'],
    [{ check: 'requests', direction: 'request', category: 'undocumented' }, 'parameters.allow'],
    [{ check: 'requests', direction: 'request', category: 'type' }, 'Mend it: the client'],
    [{ check: 'pageBounds', direction: 'request', category: 'bounds' }, 'pageBounds'],
    [{ check: 'upstream', direction: 'response', category: 'protocol' }, 'Mend it: the server'],
  ] as const)('says of %o where it is mended', (parts, words) => {
    const [finding] = findingsOf(reportOf(snapshotWith([entryWith({ ...parts, keyword: 'k', schemaPath: '' })])));
    const place = { file: 'openapi.yaml', pointer: '', line: 1, schema: undefined };
    const lines = finding === undefined ? [] : detailLines({ ...finding, place });
    expect(lines.find((line) => line.startsWith('Mend it'))).toContain(words);
  });

  it('holds nothing that acts', () => {
    const text = findingsOf(HOSTILE_REPORT)
      .flatMap((finding) => detailLines(finding))
      .join('\n');
    expect(text).not.toMatch(ACTING);
    expect(shortLines(HOSTILE_REPORT).join('\n')).not.toMatch(ACTING);
  });
});

describe('a comparison', () => {
  const before = reportOf(
    snapshotWith([
      entryWith({ fingerprint: 'a', count: 10 }),
      entryWith({ fingerprint: 'b', count: 10 }),
      entryWith({ fingerprint: 'c' }),
      entryWith({ fingerprint: 'e' }),
    ]),
  );
  const after = reportOf(
    snapshotWith([
      entryWith({ fingerprint: 'a', count: 20 }),
      entryWith({ fingerprint: 'b', count: 5 }),
      entryWith({ fingerprint: 'd' }),
      entryWith({ fingerprint: 'e' }),
    ]),
  );
  const comparison = compareReports(['1.0', before], ['1.1', after]);

  it('tells what is new, gone, more and less frequent', () => {
    expect(comparison.findings.map(({ change, finding }) => `${change} ${finding.entry.fingerprint}`)).toEqual([
      'new d',
      'more a',
      'less b',
      'gone c',
      'same e',
    ]);
  });

  it('goes by the share of the traffic, not by the count', () => {
    const busy = {
      ...snapshotWith([entryWith({ count: 50 })]),
      traffic: [{ operation: 'listQuestions', release: '2', requests: 1_000, checks: {} }],
    };
    const [one] = compareReports(
      ['1', reportOf(snapshotWith([entryWith({ count: 5 })]))],
      ['2', reportOf(busy)],
    ).findings;
    expect(one?.change).toBe('same');
  });

  it.each([...COMPARISON_FORMATS.keys()])('%s holds nothing that acts, and no tag from the wire', (format) => {
    const text =
      COMPARISON_FORMATS.get(format)?.(compareReports([HOSTILE, HOSTILE_REPORT], ['1.1', after]), PLAIN) ?? '';
    expect(text).not.toMatch(ACTING);
    if (format === 'markdown') expect(text).not.toContain('<script');
    expect(text).toContain('00000000000000a1');
  });
});
