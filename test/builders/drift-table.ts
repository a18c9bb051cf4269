import { readFileSync } from 'node:fs';

/** One row of the documentation's table of chaos. */
export interface DriftRow {
  readonly fault: string;
  /** Rows of operations, `C` and `U` for the comment writes; undefined for every operation. */
  readonly operations: readonly string[] | undefined;
  /** The upstream's own status; `ok` for that of a success, `-` for none. */
  readonly status: string;
  /** Category, keyword and place, as in the ledger. */
  readonly violation: string;
}

/** The table under `### Recorded violations` in docs/reference-server.md. */
export function driftTable(): readonly DriftRow[] {
  const text = readFileSync(new URL('../../docs/reference-server.md', import.meta.url), 'utf8');
  const [, after = ''] = text.split('### Recorded violations');
  const rows = after.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((line) => {
    const cells = line.split('|').map((cell) => cell.trim().replaceAll('`', ''));
    const [, fault = '', operations = '', status = '', category = '', keyword = '', at = ''] = cells;
    return {
      fault,
      operations: operations.startsWith('every') ? undefined : operations.split(/,\s*/),
      status,
      violation: `${category} ${keyword} ${at}`.trim(),
    };
  });
}
