import { requireCredential, requirePermissions } from '../http/caller.ts';
import { htmlErrorPage, jsonResponse, missingPermission, plainError, refuse } from '../http/legacy-response.ts';
import { type LegacyRequest, type LegacyRoute, readPathId } from '../http/route.ts';
import { toAction } from '../render/to-action.ts';
import { cancelAction, recordAction } from './actions.ts';
import { findNode } from '../render/visible-nodes.ts';
import type { NodeRow, Sql } from '../store/sql.ts';

const LAST_WIKIFIED = `SELECT id FROM actions WHERE node_id = ? AND verb = 'wikified' AND canceled_at IS NULL
  ORDER BY acted_at DESC, id DESC LIMIT 1`;

/** Finds the node whose community wiki mark the caller wants to change. Refuses callers who may not change it. */
export function findNodeToMark(sql: Sql, { caller, param }: LegacyRequest): NodeRow {
  requireCredential(caller);
  const node = findNode(sql, readPathId(param('nodeId'), 'node id'), caller);
  const own = node.author_id === caller.id && caller.permissions.has('Convert own posts to community wiki');
  if (!own && !caller.permissions.has('Mark as community wiki')) refuse(missingPermission());
  return node;
}

/**
 * Operation 12: turns a community wiki into an ordinary node and cancels its last `wikified` action (choice
 * `wiki-action`). If the node is not a community wiki, the response is an HTML page with status 401 (choice `wiki-twice`).
 */
export const cancelWiki: LegacyRoute = {
  operation: 12,
  method: 'PUT',
  path: '/services/v2/node/:nodeId/cancelwiki.json',
  respond: (request, context) => {
    const { sql, clock } = context;
    const { caller } = request;
    const node = findNodeToMark(sql, request);
    if (node.wiki === 0) refuse(htmlErrorPage(401, 'This node is not a community wiki'));
    const action = sql.transaction(() => {
      sql.run('UPDATE nodes SET wiki = 0 WHERE id = ?', node.id);
      const last = sql.get<{ id: number }>(LAST_WIKIFIED, node.id);
      const id = last?.id ?? recordAction(sql, 'wikified', node.author_id, node, clock()).id;
      return cancelAction(sql, id, caller.id, clock());
    });
    return jsonResponse({ success: true, result: { wikifyAction: toAction(context, action) } });
  },
};

/**
 * Operation 11: removes the caller's favorite and cancels its action. Refuses the request with status 400 if the node
 * is not a favorite of the caller (choice `favorite-twice`).
 */
export const unmarkFavorite: LegacyRoute = {
  operation: 11,
  method: 'PUT',
  path: '/services/v2/node/:nodeId/unmarkfavorite.json',
  respond: ({ caller, param }, context) => {
    const { sql, clock } = context;
    requireCredential(caller);
    requirePermissions(caller, 'Mark as favorite', 'View the question page');
    const node = findNode(sql, readPathId(param('nodeId'), 'node id'), caller);
    const action = sql.transaction(() => {
      const text = 'DELETE FROM favorites WHERE user_id = ? AND node_id = ? RETURNING action_id AS id';
      const favorite = sql.get<{ id: number }>(text, caller.id, node.id);
      if (favorite === undefined) refuse(plainError(400, 'The node is not one of your favorites.'));
      return cancelAction(sql, favorite.id, caller.id, clock());
    });
    const result = { favoriteAction: toAction(context, action), favoriteCount: favoriteCount(sql, node.id) };
    return jsonResponse({ success: true, result });
  },
};

/** Returns the number of users for whom the node is a favorite. */
export function favoriteCount(sql: Sql, nodeId: number): number {
  return sql.get<{ total: number }>('SELECT COUNT(*) AS total FROM favorites WHERE node_id = ?', nodeId)?.total ?? 0;
}
