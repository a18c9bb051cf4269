import { readFileSync } from 'node:fs';

/** One row of the chaos table in the documentation. */
export interface DriftRow {
  readonly fault: string;
  /**
   * The row numbers of operations, or `C` for creating comments and `U` for updating them. Undefined if the row applies
   * to every operation.
   */
  readonly operations: readonly string[] | undefined;
  /** The upstream's status: `ok` for the usual success status, and `-` for no response. */
  readonly status: string;
  /** The category, the keyword and the location, as stored in the ledger. */
  readonly violation: string;
}

/** Reads the table under `### Recorded violations` in docs/reference-server.md. */
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
