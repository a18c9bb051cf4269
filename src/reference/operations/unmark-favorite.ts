import { demandCredential, demandPermissions } from '../access/demand.ts';
import { jsonAnswer } from '../answers/legacy-answer.ts';
import { plainError } from '../answers/legacy-errors.ts';
import { refuse } from '../answers/legacy-refusal.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';
import { toAction } from '../render/to-action.ts';
import { cancelAction } from '../store/cancel-action.ts';
import { favoriteCount } from '../store/favorite-count.ts';
import { findNode } from '../store/find-node.ts';
import { readPathId } from '../store/path-id.ts';

/** Operation 11: the caller's favourite ends and its action is cancelled; 400 when the node is no favourite of the caller. */
export const unmarkFavorite: LegacyRoute = {
  operation: 11,
  method: 'PUT',
  path: '/services/v2/node/:nodeId/unmarkfavorite.json',
  answer: ({ caller, param }, context) => {
    const { sql, clock } = context;
    demandCredential(caller);
    demandPermissions(caller, 'Mark as favorite', 'View the question page');
    const node = findNode(sql, readPathId(param('nodeId'), 'node id'), caller);
    const action = sql.transaction(() => {
      const gone = 'DELETE FROM favorites WHERE user_id = ? AND node_id = ? RETURNING action_id AS id';
      const favorite = sql.get<{ id: number }>(gone, caller.id, node.id);
      if (favorite === undefined) refuse(plainError(400, 'The node is not one of your favorites.'));
      return cancelAction(sql, favorite.id, caller.id, clock());
    });
    const result = { favoriteAction: toAction(context, action), favoriteCount: favoriteCount(sql, node.id) };
    return jsonAnswer({ success: true, result });
  },
};
