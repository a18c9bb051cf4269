import { describe, expect, it } from 'vitest';
import { renderSarif } from '../../../src/workbench/report/sarif-report.ts';
import { acceptedWith, entryWith, HOSTILE_REPORT, PLAIN, reportOf, snapshotWith } from './report-fixtures.ts';

interface Sarif {
  readonly $schema: string;
  readonly version: string;
  readonly runs: readonly [
    {
      readonly tool: {
        readonly driver: {
          readonly name: string;
          readonly rules: readonly {
            readonly id: string;
            readonly name: string;
            readonly shortDescription: { readonly text: string };
          }[];
        };
      };
      readonly results: readonly {
        readonly ruleId: string;
        readonly ruleIndex: number;
        readonly level: string;
        readonly message: { readonly text: string };
        readonly partialFingerprints: Readonly<Record<string, string>>;
        readonly occurrenceCount: number;
        readonly baselineState: string;
        readonly suppressions?: readonly {
          readonly kind: string;
          readonly status: string;
          readonly justification: string;
        }[];
        readonly locations: readonly {
          readonly physicalLocation: {
            readonly artifactLocation: { readonly uri: string };
            readonly region: { readonly startLine: number };
          };
        }[];
      }[];
    },
  ];
}

const sarifOf = (report: Parameters<typeof renderSarif>[0]): Sarif => JSON.parse(renderSarif(report, PLAIN)) as Sarif;

describe('the SARIF report', () => {
  const accepted = [acceptedWith({ fingerprint: 'b' }), acceptedWith({ fingerprint: 'c', expires: '2020-01-01' })];
  const entries = [
    entryWith(),
    entryWith({ fingerprint: 'b' }),
    entryWith({ fingerprint: 'c', category: 'type', keyword: 'type', direction: 'request' }),
  ];
  const sarif = sarifOf(reportOf(snapshotWith(entries), accepted));

  it('is a run of SARIF 2.1.0 with a rule for each category and keyword', () => {
    expect(sarif).toMatchObject({ version: '2.1.0', $schema: 'https://json.schemastore.org/sarif-2.1.0.json' });
    expect(sarif.runs[0].tool.driver).toMatchObject({
      name: 'Portico',
      rules: [{ id: 'missing/required', name: 'MissingRequired' }, { id: 'type/type' }],
    });
  });

  it('points each result to the contract, and identifies it by its fingerprint', () => {
    const [first] = sarif.runs[0].results;
    expect(first?.locations[0]?.physicalLocation).toEqual({
      artifactLocation: { uri: 'schemas/resources/node.schema.json' },
      region: { startLine: 7 },
    });
    expect(first).toMatchObject({
      partialFingerprints: { 'porticoViolation/v1': '00000000000000a1' },
      occurrenceCount: 5,
      level: 'error',
      baselineState: 'new',
    });
    expect(sarif.runs[0].results.find(({ ruleId }) => ruleId === 'type/type')?.level).toBe('warning');
  });

  it('is only a note for an advisory, which refuses nothing', () => {
    const advisory = entryWith({ category: 'advisory', keyword: 'x-expected' });
    expect(sarifOf(reportOf(snapshotWith([advisory]))).runs[0].results[0]?.level).toBe('note');
  });

  it('ends a message that is a sentence with one period', () => {
    const sentence = entryWith({ message: 'The upstream reported a server error.' });
    const [result] = sarifOf(reportOf(snapshotWith([sentence]))).runs[0].results;
    expect(result?.message.text).toContain('reported a server error. Occurred 5 times');
  });

  it('suppresses accepted violations, but not those with an expired acceptance', () => {
    const suppressed = sarif.runs[0].results.map(({ partialFingerprints, suppressions }) => [
      Object.values(partialFingerprints)[0],
      suppressions?.[0],
    ]);
    expect(new Map(suppressed as [string, unknown][])).toEqual(
      new Map<string, unknown>([
        ['00000000000000a1', undefined],
        ['b', { kind: 'external', status: 'accepted', justification: 'team q: known since 2019' }],
        ['c', undefined],
      ]),
    );
  });

  it.each([
    ['of every kind', sarif],
    ['with texts from requests and responses', sarifOf(HOSTILE_REPORT)],
    ['without results', sarifOf(reportOf(snapshotWith([])))],
  ])('conforms to the schema of SARIF: %s', (_name, { runs: [run] }) => {
    const ids = run.tool.driver.rules.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const result of run.results) {
      expect(ids[result.ruleIndex]).toBe(result.ruleId);
      expect(['none', 'note', 'warning', 'error']).toContain(result.level);
      expect(['new', 'unchanged', 'updated', 'absent']).toContain(result.baselineState);
      expect(result.message.text).not.toBe('');
      expect(result.occurrenceCount).toBeGreaterThanOrEqual(1);
      for (const { physicalLocation } of result.locations) {
        expect(physicalLocation.region.startLine).toBeGreaterThanOrEqual(1);
        // The reference is relative. If its first segment contained a colon, the text before the colon would be read
        // as a scheme.
        expect(physicalLocation.artifactLocation.uri).toMatch(/^(?!\/)(?:[\w.~!$&'()*+,;=@/-]|%[\dA-F]{2})+$/);
      }
    }
  });
});
