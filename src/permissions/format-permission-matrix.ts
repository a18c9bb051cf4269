import type { MatrixCell, PermissionMatrix } from './permission-matrix.ts';

const MARKS: Readonly<Record<MatrixCell, string>> = { allowed: 'yes', own: 'own', denied: '-', delegated: 'upstream' };

/** The matrix as two tables of text: roles, then accounts. */
export function formatPermissionMatrix(matrix: PermissionMatrix): string {
  return [formatTable('role', 'Roles', matrix), formatTable('account', 'Accounts', matrix)].join('\n\n');
}

function formatTable(kind: 'role' | 'account', title: string, { subjects, rows }: PermissionMatrix): string {
  const columns = subjects.flatMap((subject, index) => (subject.kind === kind ? [index] : []));
  const lines = [
    [title, ...columns.map((index) => subjects[index]?.name ?? '')],
    ...rows.map(({ operation, cells }) => [operation, ...columns.map((index) => MARKS[cells[index] ?? 'denied'])]),
  ];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  return lines
    .map((line) =>
      line
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
