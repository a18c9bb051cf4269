import type { Caller } from '../http/caller.ts';
import type { NodeRow, Sql, TopicRow, AttachmentRow, UserRow } from '../store/sql.ts';
import { toFormattedDate } from './text.ts';
import { avatarUrl, emailHash } from './to-user.ts';
import { visibleNodes } from './visible-nodes.ts';

const TITLED: ReadonlySet<string> = new Set(['question', 'idea', 'kbentry']);

/**
 * Renders a node as shown in all lists except the idea list. The ids of children that the caller may not see are
 * omitted.
 */
export function toNode(sql: Sql, node: NodeRow, caller: Caller): Record<string, unknown> {
  const children = childrenOf(sql, node.id, caller);
  const titled = TITLED.has(node.type);
  return {
    id: node.id,
    type: node.type,
    creationDate: node.created_at,
    creationDateFormatted: toFormattedDate(node.created_at),
    ...(titled ? { title: node.title } : {}),
    body: node.body,
    bodyAsHTML: bodyAsHtml(node.body),
    author: toAuthor(sql, node.author_id),
    ...historyOf(node),
    attachments: attachmentsOf(sql, node.id),
    childrenIds: children.all,
    commentIds: children.comments,
    marked: node.marked === 1,
    topics: topicsOfNode(sql, node.id).map((topic) => toTopic(sql, topic)),
    ...(titled ? { primaryContainerId: node.space_id } : {}),
    containerIds: isComment(node.type) || node.space_id === null ? [] : [node.space_id],
    ...(titled ? { slug: node.slug } : {}),
    wiki: node.wiki === 1,
    score: node.score,
    depth: node.depth,
    viewCount: node.views,
    upVoteCount: node.up_votes,
    downVoteCount: node.down_votes,
    nodeStates: JSON.parse(node.states) as unknown,
    ...(node.type === 'question' ? { answers: children.answers, answerCount: children.answers.length } : {}),
    ...visibilityOf(sql, node, caller),
  };
}

/**
 * Renders an idea as shown in the idea list: with a string id, `plug` instead of `slug`, topics as names, null parents,
 * and no view or vote counts.
 */
export function toIdea(sql: Sql, node: NodeRow, caller: Caller): Record<string, unknown> {
  const children = childrenOf(sql, node.id, caller);
  return {
    id: String(node.id),
    type: node.type,
    creationDate: node.created_at,
    creationDateFormatted: toFormattedDate(node.created_at),
    title: node.title,
    body: node.body,
    bodyAsHTML: bodyAsHtml(node.body),
    author: toIdeaAuthor(sql, node.author_id),
    ...historyOf(node),
    parentId: null,
    parentAuthor: null,
    attachments: attachmentsOf(sql, node.id),
    childrenIds: children.all,
    commentIds: children.comments,
    marked: node.marked === 1,
    topics: topicsOfNode(sql, node.id).map(({ name }) => name),
    primaryContainerId: node.space_id,
    containerIds: node.space_id === null ? [] : [node.space_id],
    plug: node.slug,
    wiki: node.wiki === 1,
    score: node.score,
    depth: node.depth,
    nodeStates: JSON.parse(node.states) as unknown,
    reportCount: node.reports,
  };
}

/** Renders an author as shown in nodes and topics. */
function toAuthor(sql: Sql, userId: number): Record<string, unknown> {
  const user = sql.get<UserRow>('SELECT id, username, reputation FROM users WHERE id = ?', userId);
  return { id: userId, username: user?.username ?? '', reputation: user?.reputation ?? 0 };
}

function toIdeaAuthor(sql: Sql, userId: number): Record<string, unknown> {
  const user = sql.get<UserRow>('SELECT * FROM users WHERE id = ?', userId);
  const email = user?.email ?? '';
  return {
    id: userId,
    username: user?.username ?? '',
    reputation: user?.reputation ?? 0,
    realname: user?.realname ?? null,
    avatar: avatarUrl(email),
    // Only some of the responses in the specification contain `emailHash`.
    ...(userId % 2 === 0 ? { emailHash: emailHash(email) } : {}),
  };
}

const SEND_PERMISSIONS = [
  'Send private comments to the original poster',
  'Send private comments to moderators',
  'Send private comments to own groups',
] as const;

/** Returns the two private fields of a comment if the caller has the permissions to see them. */
function visibilityOf(sql: Sql, { id, visibility }: NodeRow, { permissions }: Caller): Record<string, unknown> {
  const sends = SEND_PERMISSIONS.some((permission) => permissions.has(permission));
  if (visibility === null || !sends || !permissions.has('Use Private Comments')) return {};
  return { visibility, ...(visibility === 'recipients' ? { recipients: recipientsOf(sql, id) } : {}) };
}

/** A recipient of a private comment. */
interface Recipient {
  readonly id: number;
  readonly name: string;
  readonly type: 'group' | 'user';
}

const RECIPIENTS = `
  SELECT r.recipient_id AS id, g.name AS name, 'group' AS type FROM recipients r JOIN groups g ON g.id = r.recipient_id
  WHERE r.node_id = ?1 AND r.kind = 'group'
  UNION ALL
  SELECT r.recipient_id AS id, u.username AS name, 'user' AS type FROM recipients r JOIN users u ON u.id = r.recipient_id
  WHERE r.node_id = ?1 AND r.kind = 'user'
  ORDER BY type, id`;

/** Returns the recipients of a private comment, groups first. */
export function recipientsOf(sql: Sql, nodeId: number): Recipient[] {
  return sql.all<Recipient>(RECIPIENTS, nodeId).map(({ id, name, type }) => ({ id, name, type }));
}

/** Renders a topic as embedded in nodes, without the ids of its children and parents. */
function toTopic(sql: Sql, topic: TopicRow): Record<string, unknown> {
  return {
    id: topic.id,
    creationDate: topic.created_at,
    creationDateFormatted: toFormattedDate(topic.created_at),
    name: topic.name,
    author: toAuthor(sql, topic.author_id),
    usedCount: topic.used_count,
  };
}

/** Renders a topic as shown in topic lists, including the ids of its children and parents. */
export function toListedTopic(sql: Sql, topic: TopicRow): Record<string, unknown> {
  const children = sql.all<{ id: number }>('SELECT id FROM topics WHERE parent_id = ? ORDER BY id', topic.id);
  return {
    ...toTopic(sql, topic),
    getImmediateChildren: children.map(({ id }) => id),
    getParents: topic.parent_id === null ? [] : [topic.parent_id],
  };
}

/** Returns the topics of a node in the order in which they were added. */
function topicsOfNode(sql: Sql, nodeId: number): TopicRow[] {
  return sql.all<TopicRow>(
    'SELECT t.* FROM topics t JOIN node_topics nt ON nt.topic_id = t.id WHERE nt.node_id = ? ORDER BY nt.position',
    nodeId,
  );
}

const COMMENT_TYPES: ReadonlySet<string> = new Set(['comment', 'ideacomment']);

/** Returns whether a node of this type is a comment. */
function isComment(type: string): boolean {
  return COMMENT_TYPES.has(type);
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Returns a stored body as HTML. The store contains either HTML or plain text. */
function bodyAsHtml(body: string): string {
  return body.startsWith('<') ? body : `<p>${escapeHtml(body)}</p>`;
}

/**
 * Renders a node's attachments. The specification does not show the attachments' fields, so the reference server
 * defines its own fields.
 */
function attachmentsOf(sql: Sql, nodeId: number): Record<string, unknown>[] {
  const rows = sql.all<AttachmentRow>('SELECT * FROM attachments WHERE node_id = ? ORDER BY id', nodeId);
  return rows.map((row) => ({
    id: row.id,
    name: row.filename,
    size: row.content.byteLength,
    mimeType: row.mime_type,
    creationDate: row.created_at,
    creationDateFormatted: toFormattedDate(row.created_at),
    url: `/storage/attachments/${row.id}-${encodeURIComponent(row.filename)}`,
  }));
}

/** Returns the ids of the children that the caller may see, grouped by kind, oldest first. */
function childrenOf(
  sql: Sql,
  nodeId: number,
  caller: Caller,
): { all: number[]; comments: number[]; answers: number[] } {
  const visible = visibleNodes(caller);
  const rows = sql.all<{ id: number; type: string }>(
    `SELECT n.id, n.type FROM nodes n WHERE n.parent_id = ? AND ${visible.text} ORDER BY n.id`,
    nodeId,
    ...visible.values,
  );
  return {
    all: rows.map(({ id }) => id),
    comments: rows.filter(({ type }) => isComment(type)).map(({ id }) => id),
    answers: rows.filter(({ type }) => type === 'answer').map(({ id }) => id),
  };
}

/** Returns the fields that describe edits and the last activity. All node types have these fields. */
function historyOf(node: NodeRow): Record<string, unknown> {
  const revisionIds = rawIntegers(node.revision_ids);
  return {
    lastEditedAction: node.last_edited_action,
    activeRevisionId: revisionIds.at(-1),
    revisionIds,
    lastActiveUserId: node.last_active_user_id,
    lastActiveDate: node.last_active_at,
    originalParentId: node.parent_id,
  };
}

interface RawJson {
  rawJSON(text: string): unknown;
}

/** Returns a value that serializes to the given JSON text, so that integers above 2^53 keep all their digits. */
export function rawJson(text: string): unknown {
  return (JSON as unknown as RawJson).rawJSON(text);
}

/** Returns the elements of a flat JSON array of integers as raw values. */
function rawIntegers(arrayText: string): unknown[] {
  return (arrayText.match(/\d+/g) ?? []).map(rawJson);
}
