import { readFileSync } from 'node:fs';
import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { JUDGED_NAMES } from '../../../src/engine/model/checks.ts';
import { VIOLATION_CATEGORIES } from '../../../src/engine/model/violation.ts';
import { compareReports } from '../../../src/workbench/report/comparison.ts';
import {
  parseJson,
  parseJsonReport,
  renderComparedJson,
  renderJson,
} from '../../../src/workbench/report/json-report.ts';
import { acceptedWith, entryWith, HOSTILE_REPORT, PLAIN, reportOf, snapshotWith } from './report-fixtures.ts';

const schema = JSON.parse(readFileSync('docs/report.schema.json', 'utf8')) as AnySchemaObject & {
  $defs: { violation: { properties: { check: { enum: string[] } } }; category: { enum: string[] } };
};
const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, strictRequired: false });
const validate = ajv.compile(schema);
const errorsOf = (text: string) => {
  void validate(JSON.parse(text));
  return validate.errors ?? [];
};
const whole = reportOf(snapshotWith([entryWith(), entryWith({ fingerprint: 'b', category: 'type' })]), [
  acceptedWith({ fingerprint: 'b' }),
  acceptedWith({ fingerprint: 'gone', expires: '2020-01-01', summary: 'once' }),
]);

describe('the JSON report', () => {
  it.each([
    ['a complete one', whole],
    ['an empty one', reportOf(snapshotWith([]))],
    ['a hostile one', HOSTILE_REPORT],
    [
      'a part of a report',
      reportOf(snapshotWith([entryWith({ operation: undefined, status: undefined })]), [], {
        since: 1,
        operation: undefined,
      }),
    ],
  ])('conforms to the documented schema: %s', (_name, report) => {
    expect(errorsOf(renderJson(report, PLAIN))).toEqual([]);
  });

  it('conforms to the documented schema as a comparison', () => {
    const text = renderComparedJson(compareReports(['a', whole], ['b', HOSTILE_REPORT]));
    expect(errorsOf(text)).toEqual([]);
  });

  it('keeps outages and status changes apart from violations, and reads all of them again', () => {
    const entries = [
      entryWith({ fingerprint: 'a' }),
      entryWith({ fingerprint: 'b', check: 'upstream', keyword: 'circuit_open', status: undefined }),
      entryWith({ fingerprint: 'c', check: 'errors', category: 'advisory', keyword: 'upstream_redirect', status: 302 }),
    ];
    const text = renderJson(reportOf(snapshotWith(entries)), PLAIN);
    expect(errorsOf(text)).toEqual([]);
    const { violations, outages, statusChanges } = JSON.parse(text) as Record<string, { fingerprint: string }[]>;
    expect([violations, outages, statusChanges].map((found) => found?.map(({ fingerprint }) => fingerprint))).toEqual([
      ['a'],
      ['b'],
      ['c'],
    ]);
    expect(parseJsonReport(text).entries).toHaveLength(3);
    // A report of an earlier release has neither member, and lists outages as violations.
    const { outages: _outages, statusChanges: _changes, ...earlier } = JSON.parse(text) as Record<string, unknown>;
    expect(parseJsonReport(JSON.stringify(earlier)).entries).toHaveLength(1);
  });

  it('has a schema with all categories and checks, which rejects missing fields', () => {
    expect(schema.$defs.category.enum).toEqual([...VIOLATION_CATEGORIES]);
    expect(schema.$defs.violation.properties.check.enum).toEqual([...JUDGED_NAMES, 'upstream']);
    const { dropped: _dropped, ...less } = JSON.parse(renderJson(whole, PLAIN)) as Record<string, unknown>;
    expect(errorsOf(JSON.stringify(less))).not.toEqual([]);
  });

  it('is parsed to the snapshot that it was created from', () => {
    const snapshot = snapshotWith([
      entryWith({ category: 'type' }),
      entryWith({ fingerprint: 'b', candidate: 'newly-refused', suggestion: 'x' }),
    ]);
    const read = parseJsonReport(renderJson(reportOf(snapshot), PLAIN));
    expect(read).toEqual(snapshot);
  });

  it.each([
    ['not JSON', '{', 'is not JSON'],
    ['another version', '{"version": 2, "kind": "report"}', '/version is not a report of version 1'],
    [
      'a count that is text',
      renderJson(whole, PLAIN).replace('"count": 5', '"count": "5"'),
      '/violations/0/count must be a number',
    ],
    [
      'an unknown category',
      renderJson(whole, PLAIN).replace('"category": "missing"', '"category": "odd"'),
      '/violations/0/category must be one of',
    ],
    [
      'no time',
      renderJson(whole, PLAIN).replace(/"lastSeenAt": "[^"]*"/, '"lastSeenAt": "soon"'),
      '/violations/0/lastSeenAt must be an instant',
    ],
  ])('is rejected with the place of the error: %s', (_name, text, message) => {
    expect(() => parseJsonReport(text)).toThrow(message);
  });
});

describe('a JSON text', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    ['\uFEFF[1]', [1]],
    ['null', null],
    ['', undefined],
    ['<html>', undefined],
    ['\uFEFF\uFEFF[1]', undefined],
  ])('%j is parsed as %j', (text, value) => {
    expect(parseJson(text)).toEqual(value);
  });
});
