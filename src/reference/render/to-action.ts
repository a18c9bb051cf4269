import type { ReferenceContext } from '../http/route.ts';
import type { ActionRow, Sql, UserRow } from '../store/sql.ts';
import { avatarUrl } from './to-user.ts';
import { toStoredDate, toWeekdayDate } from './text.ts';

const RECENT_MS = 60_000;

function toActor(sql: Sql, userId: number): Record<string, unknown> {
  const user = sql.get<UserRow>('SELECT * FROM users WHERE id = ?', userId);
  return { id: userId, username: user?.username ?? '', avatarUrl: avatarUrl(user?.email ?? '') };
}

/**
 * Renders an action from the log. For the first minute after the action, its date is in the format that includes the
 * weekday; after that, it is in the stored format (docs/field-facts.md, grade D).
 */
export function toAction(context: ReferenceContext, action: ActionRow): Record<string, unknown> {
  const { sql, clock } = context;
  const isRecent = Math.abs(clock() - action.acted_at) < RECENT_MS;
  const canceled =
    action.canceled_at === null
      ? {}
      : {
          canceledByUser: toActor(sql, action.canceled_by ?? action.user_id),
          canceledDate: toWeekdayDate(action.canceled_at),
        };
  return {
    id: action.id,
    ip: action.ip,
    user: toActor(sql, action.user_id),
    actionDate: isRecent ? toWeekdayDate(action.acted_at) : toStoredDate(action.acted_at),
    canceled: action.canceled_at !== null,
    ...canceled,
    extra: action.extra,
    private: action.private === 1,
    verb: action.verb,
    node: { id: action.node_id, type: action.node_type },
  };
}
