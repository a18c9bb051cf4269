import type { Caller } from './caller.ts';
import { missingPermission, notFound, refuse } from './errors.ts';
import { visibleNodes } from '../render/visible-nodes.ts';
import type { NodeRow } from '../store/rows.ts';
import type { Sql } from '../store/sql.ts';

/**
 * Finds a node of one of the types, or of any type if none is given. Refuses with 404 if it does not exist, and with the
 * permission error if the caller may not see it.
 */
export function findNode(sql: Sql, id: number, caller: Caller, ...types: readonly string[]): NodeRow {
  const node = sql.get<NodeRow>('SELECT * FROM nodes WHERE id = ?', id);
  if (node === undefined || (types.length > 0 && !types.includes(node.type))) refuse(notFound());
  const visible = visibleNodes(caller);
  const seen = sql.get(`SELECT 1 FROM nodes n WHERE n.id = ? AND ${visible.text}`, id, ...visible.values);
  if (seen === undefined) refuse(missingPermission());
  return node;
}
