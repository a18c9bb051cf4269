import type { Sql } from './sql.ts';

/** Which ids are drawn: content (nodes, topics and spaces share one pool) or one of the other sequences. */
export type SequenceName = 'content' | 'actions' | 'revisions' | 'gdpr';

/** Draws the next id of a sequence. */
export function nextId(sql: Sql, name: SequenceName): number {
  const row = sql.get<{ id: number }>(
    'UPDATE sequences SET next = next + 1 WHERE name = ? RETURNING next - 1 AS id',
    name,
  );
  if (row === undefined) throw new Error(`no sequence ${name}`);
  return row.id;
}
