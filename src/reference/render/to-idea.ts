import type { Caller } from '../http/caller.ts';
import type { NodeRow, Sql, UserRow } from '../store/sql.ts';
import { avatarUrl, emailHash } from './to-user.ts';
import { toFormattedDate } from './text.ts';
import { attachmentsOf, bodyAsHtml, childrenOf, historyOf } from './node-parts.ts';
import { topicsOfNode } from './to-topic.ts';

function toIdeaAuthor(sql: Sql, userId: number): Record<string, unknown> {
  const user = sql.get<UserRow>('SELECT * FROM users WHERE id = ?', userId);
  const email = user?.email ?? '';
  return {
    id: userId,
    username: user?.username ?? '',
    reputation: user?.reputation ?? 0,
    realname: user?.realname ?? null,
    avatar: avatarUrl(email),
    // The specification shows this field only in some responses (Node).
    ...(userId % 2 === 0 ? { emailHash: emailHash(email) } : {}),
  };
}

/**
 * Renders an idea as shown in the idea list: a string id, `plug` instead of `slug`, topics as names, null parents, and
 * no view or vote counts.
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
