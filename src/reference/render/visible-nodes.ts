import type { Caller } from '../http/caller.ts';
import { missingPermission, notFound, refuse } from '../http/legacy-response.ts';
import type { NodeRow, Sql, SqlValue } from '../store/sql.ts';

/** A condition in a WHERE clause, with its bound values. */
export interface SqlCondition {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/**
 * Returns the condition for the nodes `n` that the caller can see. Everyone can see public nodes. A private comment is
 * visible to its author, its recipients, members of its recipient groups, administrators, and the moderators or the
 * original poster if the comment's private option names them.
 */
export function visibleNodes(caller: Caller): SqlCondition {
  if (caller.admin || caller.superuser) return { text: '1 = 1', values: [] };
  if (caller.anonymous) return { text: 'n.visibility IS NULL', values: [] };
  const text = `(n.visibility IS NULL OR n.author_id = ?
    OR (n.visibility = 'moderators' AND ? = 1)
    OR (n.visibility = 'originalPoster' AND EXISTS (SELECT 1 FROM nodes root WHERE root.id = n.root_id AND root.author_id = ?))
    OR EXISTS (SELECT 1 FROM recipients r WHERE r.node_id = n.id AND (
      (r.kind = 'user' AND r.recipient_id = ?) OR (r.kind = 'group' AND r.recipient_id IN
        (SELECT group_id FROM group_members WHERE user_id = ?)))))`;
  return { text, values: [caller.id, caller.moderator ? 1 : 0, caller.id, caller.id, caller.id] };
}

/**
 * Finds a node of one of the given types, or of any type if none are given. Refuses the request with status 404 if the
 * node does not exist, or with the permission error if the caller may not see it (choice `hidden-comment`).
 */
export function findNode(sql: Sql, id: number, caller: Caller, ...types: readonly string[]): NodeRow {
  const node = sql.get<NodeRow>('SELECT * FROM nodes WHERE id = ?', id);
  if (node === undefined || (types.length > 0 && !types.includes(node.type))) refuse(notFound());
  const visible = visibleNodes(caller);
  const seen = sql.get(`SELECT 1 FROM nodes n WHERE n.id = ? AND ${visible.text}`, id, ...visible.values);
  if (seen === undefined) refuse(missingPermission());
  return node;
}
