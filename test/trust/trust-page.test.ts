import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MUTATIONS } from '../../tools/mutations/table.ts';
import { PROOFS } from '../../tools/prove/rows.ts';
import { tableOf } from '../../tools/prove/trust-page.ts';
import { readText, ROOT } from '../readme/tables.ts';

/** Returns the cells of each row of the table in docs/trust.md, excluding the header row. */
function rowsOf(page: string): string[][] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.slice(2, -2).split(' | '));
}

const page = readText('docs/trust.md');
const rows = rowsOf(page);

describe('the page docs/trust.md', () => {
  it('has the rows of `npm run prove`, in the same order and with the same texts', () => {
    const written = rowsOf(tableOf(PROOFS.map((proof) => ({ proof }))));
    expect(rows.map((cells) => cells.slice(0, 3))).toEqual(written.map((cells) => cells.slice(0, 3)));
  });

  it('has a result and a number of cases in every row', () => {
    expect(rows.filter(([, , , cases = '', result]) => result === 'not run' || !/^[\d,]+$/.test(cases))).toEqual([]);
  });

  it('explains every red row', () => {
    const red = rows.filter(([, , , , result]) => result !== 'green').map(([id = '']) => id);
    expect(red.filter((id) => !page.includes(`- ${id}: `))).toEqual([]);
  });
});

describe('the rows of `npm run prove`', () => {
  it('have distinct ids and name files that exist', () => {
    expect(new Set(PROOFS.map(({ id }) => id)).size).toBe(PROOFS.length);
    const files = PROOFS.flatMap((proof) => proof.files);
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it('include mutations of at least twenty guards', () => {
    expect(MUTATIONS.length).toBeGreaterThanOrEqual(20);
  });
});
