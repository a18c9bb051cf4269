import { nextId, type NodeRow, type Sql } from './sql.ts';

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

interface NodeBelow extends Pick<NewNode, 'authorId' | 'body' | 'at'> {
  readonly type: 'answer' | 'comment' | 'ideacomment';
  readonly parent: NodeRow;
  /** False for a private comment, because updating the thread's last activity would reveal that the comment exists. */
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

/** Returns the slug of a title: its words in lower case, joined by hyphens. */
export function toSlug(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}
