import { nextId } from './next-id.ts';
import type { ActionRow, NodeRow } from './rows.ts';
import type { Sql } from './sql.ts';

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
