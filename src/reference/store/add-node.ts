import { nextId } from './next-id.ts';
import type { NodeRow } from './rows.ts';
import type { Sql } from './sql.ts';

/** A node to be added below another. */
export interface NewNode {
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
export function addNode(sql: Sql, node: NewNode): NodeRow {
  const { parent, at, authorId } = node;
  const row = sql.get<NodeRow>(
    `INSERT INTO nodes (id, type, space_id, parent_id, root_id, author_id, title, slug, body, lang, created_at, last_active_at,
       last_active_user_id, last_edited_action, revision_ids, marked, wiki, score, up_votes, down_votes, views, reports, depth,
       states, visibility)
     VALUES (?, ?, ?, ?, ?, ?, NULL, NULL, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0, ?, '[]', NULL) RETURNING *`,
    nextId(sql, 'content'),
    node.type,
    parent.space_id,
    parent.id,
    parent.root_id,
    authorId,
    node.body,
    parent.lang,
    at,
    at,
    authorId,
    nextId(sql, 'actions'),
    `[${nextId(sql, 'revisions')}]`,
    parent.depth + 1,
  );
  if (row === undefined) throw new Error('the node was not added');
  if (node.moves === 'nothing') return row;
  sql.run('UPDATE nodes SET last_active_at = ?, last_active_user_id = ? WHERE id = ?', at, authorId, parent.root_id);
  return row;
}
