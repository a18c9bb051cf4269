import { requireCredential, requireGroup, requirePermissions } from '../http/caller.ts';
import { jsonResponse } from '../http/legacy-response.ts';
import type { LegacyRoute, ReferenceContext } from '../http/route.ts';
import { readPageRequest } from '../lists/paging.ts';
import { project, readProjection } from '../lists/projection.ts';
import { type ActionRow, nextId, type NodeRow, type Sql, type UserRow } from '../store/sql.ts';
import { avatarUrl } from '../render/to-user.ts';
import { toStoredDate, toWeekdayDate } from '../render/text.ts';

/**
 * Operation 7: the action log, newest action first. A client requests older actions with the `moreResults` parameter.
 */
export const listActions: LegacyRoute = {
  operation: 7,
  method: 'GET',
  path: '/services/v2/action.json',
  respond: ({ caller, query }, context) => {
    requireCredential(caller);
    requirePermissions(caller, 'View analytics');
    requireGroup(caller, 'Super Users');
    const page = readPageRequest(query, { firstPage: 1, size: 20 });
    const olderThan = /^\d{1,15}$/.exec(query.get('moreResults') ?? '')?.[0];
    const rows = context.sql.all<ActionRow>(
      'SELECT * FROM actions WHERE acted_at < ? ORDER BY acted_at DESC, id DESC LIMIT ? OFFSET ?',
      olderThan === undefined ? Number.MAX_SAFE_INTEGER : Number(olderThan),
      page.size,
      page.offset,
    );
    const projection = readProjection(query);
    const actions = rows.map((row) => project(toAction(context, row), projection));
    return jsonResponse({ actions, moreResults: rows.at(-1)?.acted_at ?? 0 });
  },
};

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

const RECENT_MS = 60_000;

function toActor(sql: Sql, userId: number): Record<string, unknown> {
  const user = sql.get<UserRow>('SELECT * FROM users WHERE id = ?', userId);
  return { id: userId, username: user?.username ?? '', avatarUrl: avatarUrl(user?.email ?? '') };
}

/**
 * Renders an action from the log. The action's date has the weekday format for the first minute, and the stored format
 * after that (field facts, grade D).
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
