import { nextId } from './next-id.ts';
import type { Sql } from './sql.ts';

/** Replaces a node's body, which adds a revision. */
export function editBody(sql: Sql, nodeId: number, body: string, editorId: number, at: number): void {
  sql.run(
    `UPDATE nodes SET body = ?, last_active_at = ?, last_active_user_id = ?, last_edited_action = ?,
     revision_ids = rtrim(revision_ids, ']') || ',' || ? || ']' WHERE id = ?`,
    body,
    at,
    editorId,
    nextId(sql, 'actions'),
    // A number would be bound as a real and print with a fraction.
    String(nextId(sql, 'revisions')),
    nodeId,
  );
}
