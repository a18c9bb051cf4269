import type { ActionRow } from './rows.ts';
import type { Sql } from './sql.ts';

/** Marks an action of the log as cancelled by a user at an instant, and gives the row as it is then. */
export function cancelAction(sql: Sql, actionId: number, userId: number, at: number): ActionRow {
  const text = 'UPDATE actions SET canceled_at = ?, canceled_by = ? WHERE id = ? RETURNING *';
  const action = sql.get<ActionRow>(text, at, userId, actionId);
  if (action === undefined) throw new Error(`no action ${actionId}`);
  return action;
}
