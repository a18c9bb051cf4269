import { requireCredential, requirePermissions } from '../http/caller.ts';
import { htmlErrorPage, jsonResponse, plainError, refuse } from '../http/legacy-response.ts';
import { type LegacyRoute, readPathId } from '../http/route.ts';
import { recordAction } from '../operations/actions.ts';
import { toAction } from '../render/to-action.ts';
import { favoriteCount, findNodeToMark } from '../operations/marks.ts';
import { findNode } from '../render/visible-nodes.ts';

const markFavorite: LegacyRoute = {
  method: 'PUT',
  path: '/services/v2/node/:nodeId/markfavorite.json',
  respond: ({ caller, param }, context) => {
    const { sql, clock } = context;
    requireCredential(caller);
    requirePermissions(caller, 'Mark as favorite', 'View the question page');
    const node = findNode(sql, readPathId(param('nodeId'), 'node id'), caller);
    const known = sql.get('SELECT 1 FROM favorites WHERE user_id = ? AND node_id = ?', caller.id, node.id);
    if (known !== undefined) refuse(plainError(400, 'The node is already one of your favorites.'));
    const action = sql.transaction(() => {
      const recorded = recordAction(sql, 'favorited', caller.id, node, clock());
      sql.run('INSERT INTO favorites (user_id, node_id, action_id) VALUES (?, ?, ?)', caller.id, node.id, recorded.id);
      return recorded;
    });
    const result = { favoriteAction: toAction(context, action), favoriteCount: favoriteCount(sql, node.id) };
    return jsonResponse({ success: true, result });
  },
};

const markWiki: LegacyRoute = {
  method: 'PUT',
  path: '/services/v2/node/:nodeId/wiki.json',
  respond: (request, context) => {
    const { sql, clock } = context;
    const node = findNodeToMark(sql, request);
    if (node.wiki === 1) refuse(htmlErrorPage(401, 'This node is already a community wiki'));
    const action = sql.transaction(() => {
      sql.run('UPDATE nodes SET wiki = 1 WHERE id = ?', node.id);
      return recordAction(sql, 'wikified', request.caller.id, node, clock());
    });
    return jsonResponse({ success: true, result: { wikifyAction: toAction(context, action) } });
  },
};

/**
 * The inverses of the operations that cancel a favorite and a community wiki, inferred by analogy. Without them, those
 * operations would work only once per node.
 */
export const markRoutes: readonly LegacyRoute[] = [markFavorite, markWiki];
