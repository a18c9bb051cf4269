import { type ActionRow, nextId, type NodeRow, type Sql } from './sql.ts';

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

/** Marks an action of the log as canceled by a user at an instant (epoch ms) and returns the changed row. */
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
