import { type ActionRow, nextId, type NodeRow, type Sql } from './sql.ts';

/** A node to insert. A node without a parent starts a thread. */
interface NewNode {
  readonly type: string;
  readonly parent: NodeRow | undefined;
  readonly spaceId: number | null;
  readonly authorId: number;
  readonly title: string | null;
  readonly body: string;
  /** The creation time, in epoch milliseconds. */
  readonly at: number;
}

/** Inserts a node with an id from the content sequence, a first revision and no votes. */
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

/** A node to add below another node. */
interface NodeBelow {
  readonly type: 'answer' | 'comment' | 'ideacomment';
  readonly parent: NodeRow;
  readonly authorId: number;
  readonly body: string;
  /** The creation time, in epoch milliseconds. */
  readonly at: number;
  /**
   * True if the thread's last activity is updated. False for a private comment, because the update would reveal that
   * the comment exists.
   */
  readonly showsActivity: boolean;
}

/** Adds a node below another node. If `showsActivity` is true, also updates the last activity of the thread. */
export function addNode(sql: Sql, node: NodeBelow): NodeRow {
  const row = insertNode(sql, { ...node, spaceId: node.parent.space_id, title: null });
  if (!node.showsActivity) return row;
  const text = 'UPDATE nodes SET last_active_at = ?, last_active_user_id = ? WHERE id = ?';
  sql.run(text, node.at, node.authorId, node.parent.root_id);
  return row;
}

/** Replaces a node's body and adds a revision. */
export function editBody(sql: Sql, nodeId: number, body: string, editorId: number, at: number): void {
  sql.run(
    `UPDATE nodes SET body = ?, last_active_at = ?, last_active_user_id = ?, last_edited_action = ?,
     revision_ids = rtrim(revision_ids, ']') || ',' || ? || ']' WHERE id = ?`,
    body,
    at,
    editorId,
    nextId(sql, 'actions'),
    // The id is bound as text, because a number would be bound as REAL and printed with a fraction.
    String(nextId(sql, 'revisions')),
    nodeId,
  );
}

/** Returns the slug of a title: its words in lower case, joined by hyphens. */
export function toSlug(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

/** Adds an action on a node to the log. */
export function recordAction(sql: Sql, verb: string, userId: number, node: NodeRow, at: number): ActionRow {
  const action = sql.get<ActionRow>(
    `INSERT INTO actions (id, verb, user_id, node_id, node_type, ip, acted_at, extra, private)
     VALUES (?, ?, ?, ?, ?, '127.0.0.1', ?, NULL, ?) RETURNING *`,
    nextId(sql, 'actions'),
    verb,
    userId,
    node.id,
    node.type,
    at,
    node.visibility === null ? 0 : 1,
  );
  if (action === undefined) throw new Error('the action was not recorded');
  return action;
}

/**
 * Marks an action in the log as canceled by a user at a given time (epoch milliseconds), and returns the changed row.
 */
export function cancelAction(sql: Sql, actionId: number, userId: number, at: number): ActionRow {
  const text = 'UPDATE actions SET canceled_at = ?, canceled_by = ? WHERE id = ? RETURNING *';
  const action = sql.get<ActionRow>(text, at, userId, actionId);
  if (action === undefined) throw new Error(`action ${actionId} does not exist`);
  return action;
}

/** Returns the number of users who have the node among their favorites. */
export function favoriteCount(sql: Sql, nodeId: number): number {
  return sql.get<{ total: number }>('SELECT COUNT(*) AS total FROM favorites WHERE node_id = ?', nodeId)?.total ?? 0;
}
