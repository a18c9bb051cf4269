import { toSlug } from '../render/text.ts';
import type { NodeRow } from './rows.ts';
import { nextId, type Sql } from './sql.ts';

/** A node to be inserted; without a parent it starts a thread. */
export interface NewNode {
  readonly type: string;
  readonly parent: NodeRow | undefined;
  readonly spaceId: number | null;
  readonly authorId: number;
  readonly title: string | null;
  readonly body: string;
  /** Epoch ms. */
  readonly at: number;
}

/** Inserts a node with an id of the content pool, its first revision and no votes yet. */
export function insertNode(sql: Sql, node: NewNode): NodeRow {
  const { parent, at, authorId } = node;
  const id = nextId(sql, 'content');
  const row = sql.get<NodeRow>(
    `INSERT INTO nodes (id, type, space_id, parent_id, root_id, author_id, title, slug, body, lang, created_at, last_active_at,
       last_active_user_id, last_edited_action, revision_ids, marked, wiki, score, up_votes, down_votes, views, reports, depth,
       states, visibility)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0, ?, '[]', NULL) RETURNING *`,
    id,
    node.type,
    node.spaceId,
    parent?.id ?? null,
    parent?.root_id ?? id,
    authorId,
    node.title,
    node.title === null ? null : toSlug(node.title),
    node.body,
    parent?.lang ?? 'en',
    at,
    at,
    authorId,
    nextId(sql, 'actions'),
    `[${nextId(sql, 'revisions')}]`,
    parent === undefined ? 0 : parent.depth + 1,
  );
  if (row === undefined) throw new Error('the node was not inserted');
  return row;
}

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
