import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ERRORS } from '../../../src/engine/errors/catalogue.ts';
import { FEATURES } from '../../../src/features.ts';
import { readSources } from '../../../tools/structure.ts';
import { readText, ROOT, tablesOf } from '../../readme/tables.ts';

const KNOWN: Readonly<Record<string, { readonly status: number }>> = {
  ...ERRORS,
  ...Object.fromEntries(FEATURES.flatMap(({ errors = [] }) => errors).map((one) => [one.code, one])),
};

describe('the page of errors', () => {
  const rows = tablesOf(readText('docs/errors.md')).flat();

  it('lists every code of the catalogue with its status, and no other', () => {
    const documented = Object.fromEntries(rows.map((row) => [row['code'] ?? '', Number(row['status'])]));
    const known = Object.fromEntries(Object.entries(KNOWN).map(([code, { status }]) => [code, status]));
    expect(documented).toEqual(known);
  });

  it('lists each code once and describes when it is returned', () => {
    expect(rows).toHaveLength(Object.keys(KNOWN).length);
    expect(rows.filter((row) => row['when'] === '')).toEqual([]);
  });
});

describe('every error code', () => {
  // If only the catalog and the metrics contain a code, no client ever receives it.
  const others = readSources(join(ROOT, 'src')).filter(({ path }) => !/^(?:errors|telemetry|reference)\//.test(path));

  it.each(Object.keys(KNOWN))('is used by code that refuses requests: %s', (code) => {
    expect(others.some(({ text }) => text.includes(`'${code}'`))).toBe(true);
  });
});
