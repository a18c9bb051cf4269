import type { Sql } from '../store/sql.ts';
import { asksFor, type Projection } from './projection.ts';

const EXTRAS = [
  ['favoriteCount', 'SELECT COUNT(*) AS value FROM favorites WHERE node_id = ?'],
  ['followerCount', "SELECT COUNT(*) AS value FROM follows WHERE kind = 'node' AND target_id = ? AND active = 1"],
] as const;

/** A node with the counts that undocumented addresses show when `include` or `includeOnly` names them; no documented answer has them. */
export function withExtraFields(
  sql: Sql,
  item: Record<string, unknown>,
  nodeId: number,
  projection: Projection,
): Record<string, unknown> {
  const extras = EXTRAS.filter(([field]) => asksFor(projection, field));
  return Object.assign(
    item,
    Object.fromEntries(extras.map(([field, text]) => [field, sql.get<{ value: number }>(text, nodeId)?.value ?? 0])),
  );
}
