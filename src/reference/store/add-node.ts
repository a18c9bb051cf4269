import { insertNode } from './insert-node.ts';
import type { NodeRow } from './rows.ts';
import type { Sql } from './sql.ts';

/** A node to be added below another. */
export interface NodeBelow {
  readonly type: 'answer' | 'comment' | 'ideacomment';
  readonly parent: NodeRow;
  readonly authorId: number;
  readonly body: string;
  /** Epoch ms. */
  readonly at: number;
  /** Whether the thread shows the activity, which would tell strangers of a private comment. */
  readonly moves: 'thread' | 'nothing';
}

/** Adds a node below another, and moves the last activity of its thread unless that would tell of something private. */
export function addNode(sql: Sql, node: NodeBelow): NodeRow {
  const row = insertNode(sql, { ...node, spaceId: node.parent.space_id, title: null });
  if (node.moves === 'nothing') return row;
  const text = 'UPDATE nodes SET last_active_at = ?, last_active_user_id = ? WHERE id = ?';
  sql.run(text, node.at, node.authorId, node.parent.root_id);
  return row;
}
