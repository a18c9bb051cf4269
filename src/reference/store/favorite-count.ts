import type { Sql } from './sql.ts';

/** How many users have the node among their favourites. */
export function favoriteCount(sql: Sql, nodeId: number): number {
  return sql.get<{ total: number }>('SELECT COUNT(*) AS total FROM favorites WHERE node_id = ?', nodeId)?.total ?? 0;
}
