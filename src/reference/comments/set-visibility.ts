import type { NodeRow } from '../store/rows.ts';
import type { Sql } from '../store/sql.ts';
import type { DecidedVisibility } from './decide-visibility.ts';

const REPLIES = `WITH RECURSIVE below (id) AS (
  SELECT ?1 UNION ALL SELECT c.id FROM nodes c JOIN below ON c.parent_id = below.id) SELECT id FROM below`;

/** Stores who may see a comment, for the replies below it too when it is private, as they inherit it; gives the comment's row. */
export function setVisibility(sql: Sql, commentId: number, decided: DecidedVisibility): NodeRow {
  const before = sql.get<NodeRow>('SELECT * FROM nodes WHERE id = ?', commentId);
  const inherits = decided.visibility !== null || before?.visibility !== null;
  const ids = inherits ? sql.all<{ id: number }>(REPLIES, commentId).map(({ id }) => id) : [commentId];
  for (const id of ids) {
    sql.run('UPDATE nodes SET visibility = ? WHERE id = ?', decided.visibility, id);
    sql.run('DELETE FROM recipients WHERE node_id = ?', id);
    for (const recipient of decided.recipients) {
      const text = 'INSERT OR IGNORE INTO recipients (node_id, kind, recipient_id) VALUES (?, ?, ?)';
      sql.run(text, id, recipient.type, recipient.id);
    }
  }
  const comment = sql.get<NodeRow>('SELECT * FROM nodes WHERE id = ?', commentId);
  if (comment === undefined) throw new Error(`no comment ${commentId}`);
  return comment;
}
