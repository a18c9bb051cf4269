import type { Caller } from '../http/caller.ts';
import type { SqlValue } from '../store/sql.ts';

/** A condition of a WHERE clause with its bound values. */
export interface SqlCondition {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/**
 * Returns the condition on nodes `n` that the caller may see: public nodes, and private comments for their author, their
 * recipients, members of recipient groups, administrators, and the moderators or original poster that the option names.
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
