import { requireCredential, requireGroup, requirePermissions } from '../http/caller.ts';
import { jsonResponse } from '../http/legacy-response.ts';
import type { LegacyRoute } from '../http/route.ts';
import { readPageRequest } from '../lists/paging.ts';
import { project, readProjection } from '../lists/projection.ts';
import { toAction } from '../render/to-action.ts';
import { type ActionRow, nextId, type NodeRow, type Sql } from '../store/sql.ts';

/**
 * Operation 7: the action log, newest action first. Clients request older actions with the `moreResults` parameter (choice
 * `more-results`).
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

/** Logs an action on a node. */
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
 * Marks an action in the log as canceled by a user at the given time (in epoch milliseconds), and returns the changed
 * row.
 */
export function cancelAction(sql: Sql, actionId: number, userId: number, at: number): ActionRow {
  const text = 'UPDATE actions SET canceled_at = ?, canceled_by = ? WHERE id = ? RETURNING *';
  const action = sql.get<ActionRow>(text, at, userId, actionId);
  if (action === undefined) throw new Error(`action ${actionId} does not exist`);
  return action;
}
