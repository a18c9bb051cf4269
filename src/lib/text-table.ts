/**
 * Returns the lines of a table for a terminal. The first row is the head. Columns are separated by two spaces; those
 * whose index is in `numeric` are aligned at the right.
 */
export function textTable(
  rows: readonly (readonly string[])[],
  numeric: ReadonlySet<number> = new Set(),
): readonly string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const fill = (text: string, column: number) =>
    numeric.has(column) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0);
  return rows.map((row) => row.map(fill).join('  ').trimEnd());
}
