import type { Caller } from '../http/caller.ts';
import type { NodeRow, Sql } from '../store/sql.ts';
import { attachmentsOf, bodyAsHtml, childrenOf, historyOf, isComment } from './node-parts.ts';
import { toFormattedDate } from './text.ts';
import { topicsOfNode, toTopic } from './to-topic.ts';
import { authorSummary } from './to-user.ts';

const TITLED: ReadonlySet<string> = new Set(['question', 'idea', 'kbentry']);

/**
 * Renders a node as shown in all lists except the idea list, without the ids of children that the caller may not see.
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
    author: authorSummary(sql, node.author_id),
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
