import type { Caller } from './caller.ts';
import { missingPermission, notFound } from './errors.ts';
import { refuse } from './errors.ts';
import { visibleNodes } from '../render/visible-nodes.ts';
import type { NodeRow } from '../store/rows.ts';
import type { Sql } from '../store/sql.ts';

/** Finds a node of one of the types (any when none is given): 404 when there is none, the permission failure when it is private to others. */
export function findNode(sql: Sql, id: number, caller: Caller, ...types: readonly string[]): NodeRow {
  const node = sql.get<NodeRow>('SELECT * FROM nodes WHERE id = ?', id);
  if (node === undefined || (types.length > 0 && !types.includes(node.type))) refuse(notFound());
  const visible = visibleNodes(caller);
  const seen = sql.get(`SELECT 1 FROM nodes n WHERE n.id = ? AND ${visible.text}`, id, ...visible.values);
  if (seen === undefined) refuse(missingPermission());
  return node;
}
