import { describe, expect, it } from 'vitest';
import { BASE_PATH } from '../../../src/profile/base-path.ts';
import { detailLines } from '../../../src/workbench/report/detail-lines.ts';
import { REPORT_FORMATS } from '../../../src/workbench/report/formats.ts';
import { UNDOCUMENTED_FIELD } from '../../../src/engine/model/violation.ts';
import { findingsOf } from '../../../src/workbench/report/report.ts';
import { renderTable, shortLines } from '../../../src/workbench/report/table-report.ts';
import { parseBaseline } from '../../../src/features/baseline/baseline-file.ts';
import { compareReports } from '../../../src/workbench/report/comparison.ts';
import type { AcceptedViolation, LedgerEntry } from '../../../src/engine/model/ledger-entry.ts';
import { readText, sectionOf, tableBy } from '../../readme/tables.ts';
import {
  acceptedWith,
  entryWith,
  HOSTILE,
  HOSTILE_REPORT,
  PLAIN,
  reportOf,
  snapshotWith,
  TAKEN_AT,
} from './report-fixtures.ts';

const rendered = (format: string, report = HOSTILE_REPORT): string =>
  REPORT_FORMATS.get(format)?.report(report, PLAIN) ?? '';
// oxlint-disable-next-line no-control-regex -- the test searches for control characters
const ACTING = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const NAMES = [...REPORT_FORMATS.keys()];
const kindOf = (format: string) => REPORT_FORMATS.get(format)?.kind;

describe('every format', () => {
  it('is described in docs/reports.md', () => {
    const page = readText('docs/reports.md');
    const row = tableBy(sectionOf(page, 'Selection'), 'flag').find(({ flag }) => flag === '--format');
    expect(row?.['meaning']?.match(/\w+/g)?.filter((word) => word !== 'or')).toEqual(NAMES);
    const paragraphs = [...sectionOf(page, 'Formats').matchAll(/^\*\*(\w+).*?\.\*\*/gm)];
    expect(paragraphs.map(([, name = '']) => name.toLowerCase())).toEqual(NAMES);
  });

  it.each(NAMES)('%s contains no control characters', (format) => {
    const text = rendered(format);
    expect(text).toContain('00000000000000a1');
    expect(text).not.toMatch(ACTING);
    expect(text.isWellFormed()).toBe(true);
  });

  it.each(NAMES.filter((format) => kindOf(format) === 'markup'))(
    '%s contains no tags from requests or responses',
    (format) => {
      expect(rendered(format)).not.toContain('<script>alert');
      expect(rendered(format)).not.toContain(']]>');
    },
  );

  it.each(['markdown', 'table'])('%s keeps texts from requests and responses on one line', (format) => {
    expect(
      rendered(format)
        .split('\n')
        .filter((line) => /^(?:b\b|red\b)/.test(line)),
    ).toEqual([]);
  });

  const empty = reportOf(snapshotWith([], { releases: [] }));

  it.each(NAMES.filter((format) => kindOf(format) !== 'data'))('%s states that there was no traffic', (format) => {
    expect(rendered(format, empty)).toContain('No traffic was recorded');
  });

  it.each(['json', 'sarif'])('%s is valid JSON, even without traffic', (format) => {
    expect(JSON.parse(rendered(format))).toBeTypeOf('object');
    expect(JSON.parse(rendered(format, empty))).toBeTypeOf('object');
  });
});

const widest = (columns: number) =>
  Math.max(
    ...(REPORT_FORMATS.get('table')?.report(HOSTILE_REPORT, { ...PLAIN, columns }) ?? '')
      .split('\n')
      .map(({ length }) => length),
  );

describe('the table', () => {
  it('fits in 80 columns, and uses at most 120', () => {
    expect(widest(80)).toBeLessThanOrEqual(80);
    expect(widest(300)).toBeLessThanOrEqual(120);
  });

  it('has colors only if they are enabled', () => {
    expect(REPORT_FORMATS.get('table')?.report(HOSTILE_REPORT, { ...PLAIN, colors: true })).toContain('\u001b[31m');
    expect(rendered('table')).not.toContain('\u001b');
  });
});

describe('Markdown', () => {
  it('has the same number of cells in each row', () => {
    const rows = rendered('markdown')
      .split('\n')
      .filter((line) => line.startsWith('| '));
    const cells = rows.map((row) => row.replaceAll(String.raw`\|`, '').split('|').length);
    expect(new Set(cells)).toEqual(new Set([7, 8, 6]));
    expect(rows.length).toBeGreaterThan(8);
  });

  it('fits in a comment, and reports truncation', () => {
    const many = Array.from({ length: 2_000 }, (_, at) =>
      entryWith({ fingerprint: `f${at}`, at: `/field${at}`, message: 'm'.repeat(200) }),
    );
    const text = rendered('markdown', reportOf(snapshotWith(many)));
    expect(text.length).toBeLessThan(65_536);
    expect(text).toMatch(/report is truncated/);
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

describe('JUnit XML', () => {
  it('reports new violations as failures, and skips advisories with their details', () => {
    const text = rendered(
      'junit',
      reportOf(
        snapshotWith([
          entryWith({ fingerprint: '00000000000000a1' }),
          entryWith({ fingerprint: '00000000000000a2', category: 'advisory', keyword: 'x-expected' }),
          entryWith({ fingerprint: '00000000000000a3', category: 'undocumented', keyword: UNDOCUMENTED_FIELD }),
        ]),
      ),
    );
    expect(text).toContain('<testsuites name="portico" tests="3" failures="1" errors="0" skipped="2"');
    const cases = text.split('<testcase ').slice(1);
    const resultOf = (fingerprint: string) => cases.find((one) => one.includes(`[${fingerprint}]`)) ?? '';
    expect(resultOf('00000000000000a1')).toContain('<failure ');
    for (const fingerprint of ['00000000000000a2', '00000000000000a3']) {
      expect(resultOf(fingerprint)).toMatch(/<skipped message="advisory: .*<system-out>[^<]*details: portico report/s);
      expect(resultOf(fingerprint)).not.toContain('<failure');
    }
  });
});

describe('the detail of a violation', () => {
  it('shows all details, how to accept the violation, and how to fix it', () => {
    const [finding] = findingsOf(reportOf(snapshotWith([entryWith({ suggestion: 'ask the team' })])));
    const text = finding === undefined ? '' : detailLines(finding, BASE_PATH).join('\n');
    for (const part of [
      '/list/*/title is missing',
      'schemas/resources/node.schema.json:7  #/required',
      '5%',
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

  it.each(['detail', 'table'])('%s has lines that are a valid baseline below "accepted:"', (where) => {
    for (const report of [reportOf(snapshotWith([entryWith()])), HOSTILE_REPORT]) {
      const [finding] = findingsOf(report);
      const lines =
        where === 'table' ? renderTable(report, PLAIN).split('\n') : finding ? detailLines(finding, BASE_PATH) : [];
      const from = lines.findIndex((line) => line.startsWith('  - fingerprint: '));
      const rest = lines.slice(from);
      const to = rest.findIndex((line) => !line.startsWith('  '));
      const copied = rest.slice(0, to < 0 ? undefined : to);
      const parsed = parseBaseline(['accepted:', ...copied].join('\n'), 'b.yaml');
      expect(parsed.faults).toEqual([]);
      expect(parsed.baseline?.accepted).toMatchObject([{ fingerprint: finding?.entry.fingerprint }]);
    }
  });

  it('offers to accept neither an accepted violation nor a failure of the upstream', () => {
    const lines = (entry: LedgerEntry, accepted: readonly AcceptedViolation[] = []) => {
      const report = reportOf(snapshotWith([entry]), accepted);
      return (
        [...findingsOf(report), ...report.outages].flatMap((one) => detailLines(one, BASE_PATH)).join('\n') +
        renderTable(report, PLAIN)
      );
    };
    expect(lines(entryWith())).toContain('To accept it, add');
    expect(lines(entryWith(), [acceptedWith()])).toMatch(/It is accepted\. To withdraw/);
    expect(lines(entryWith(), [acceptedWith({ expires: '2026-05-03' })])).toContain('ended on 2026-05-03. To renew it');
    const outages = [entryWith({ check: 'upstream', category: 'protocol' }), entryWith({ status: 503 })];
    // An entry in the baseline has no effect on an upstream failure.
    for (const entry of outages)
      for (const accepted of [[], [acceptedWith()]]) expect(lines(entry, accepted)).toContain('fix it instead');
    for (const text of [lines(entryWith(), [acceptedWith()]), ...outages.map((entry) => lines(entry))])
      expect(text).not.toContain('To accept it, add');
  });

  it('shows the missing permission of a denied caller, but no header', () => {
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
    const text = finding === undefined ? '' : detailLines({ ...finding, place }, BASE_PATH).join('\n');
    expect(text).toContain('request, requires View list idea');
    expect(text).toContain('To fix it, change the roles file');
    expect(text).not.toContain('header');
  });

  it.each([
    [
      { check: 'undocumented', direction: 'request', category: 'not-allowed', at: 'HEAD /services/v2/poll/{id}.json' },
      "add this entry to undocumented.allow: - { method: GET, path: '/services/v2/poll/{id}.json' }, or",
    ],
    [
      { check: 'undocumented', direction: 'request', category: 'not-allowed', at: 'POST /login' },
      'To fix it, change the client, or describe the path in an overlay.',
    ],
    [{ check: 'requests', direction: 'request', category: 'not-allowed', keyword: 'unknown' }, 'parameters.allow'],
    [{ check: 'requests', direction: 'request', category: 'type' }, 'To fix it, change the client'],
    [{ check: 'pageBounds', direction: 'request', category: 'bounds' }, 'pageBounds'],
    [{ check: 'upstream', direction: 'response', category: 'protocol' }, 'To fix it, change the server'],
    [
      { check: 'errors', direction: 'response', category: 'advisory', suggestion: 'operations.x.errors: legacy' },
      'keep its status with operations.x.errors: legacy',
    ],
  ] as const)('suggests for %o what to change', (parts, words) => {
    const report = reportOf(snapshotWith([entryWith({ keyword: 'k', ...parts, schemaPath: '' })]));
    const [finding] = [...findingsOf(report), ...report.outages, ...report.statusChanges];
    const place = { file: 'openapi.yaml', pointer: '', line: 1, schema: undefined };
    const lines = finding === undefined ? [] : detailLines({ ...finding, place }, BASE_PATH);
    expect(lines.find((line) => line.startsWith('To fix it'))).toContain(words);
  });

  it('contains no control characters', () => {
    const text = findingsOf(HOSTILE_REPORT)
      .flatMap((finding) => detailLines(finding, BASE_PATH))
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

  it('shows new, gone, more frequent and less frequent violations', () => {
    expect(comparison.findings.map(({ change, finding }) => `${change} ${finding.entry.fingerprint}`)).toEqual([
      'new d',
      'more a',
      'less b',
      'gone c',
      'same e',
    ]);
  });

  it('compares the share of the traffic, not the count', () => {
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

  it.each(NAMES)('%s contains neither control characters nor tags from requests and responses', (format) => {
    const text =
      REPORT_FORMATS.get(format)?.comparison(compareReports([HOSTILE, HOSTILE_REPORT], ['1.1', after]), PLAIN) ?? '';
    expect(text).not.toMatch(ACTING);
    if (kindOf(format) === 'markup') expect(text).not.toContain('<script>alert');
    expect(text).toContain('00000000000000a1');
  });
});

describe('the section about gateways that share a ledger', () => {
  const replicas = [
    { replica: 'pod-a', release: '1.1', lastSeenAt: TAKEN_AT, requests: 120, violations: 7 },
    { replica: 'pod-b', release: '1.0', lastSeenAt: TAKEN_AT - 60_000, requests: 99, violations: 0 },
  ];
  const shared = reportOf(snapshotWith([entryWith()], { replicas, lostAt: TAKEN_AT - 3_600_000 }));

  it.each(['table', 'markdown', 'html', 'json'])('is part of the format %s', (format) => {
    const text = rendered(format, shared).replaceAll('\\', '');
    expect(text).toMatch(/pod-a[\s\S]*1\.1[\s\S]*120[\s\S]*7[\s\S]*pod-b/);
    expect(text).toMatch(format === 'json' ? /"lostAt": "2026-05-04T09:30/ : /counts from before 2026-05-04 09:30 UTC/);
  });

  it('does not exist without a shared ledger', () => {
    for (const format of ['table', 'markdown', 'html', 'json'])
      expect(rendered(format, reportOf(snapshotWith([entryWith()])))).not.toMatch(/Gateways|replicas|lostAt/);
  });
});
