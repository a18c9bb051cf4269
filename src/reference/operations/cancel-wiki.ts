import { demandCredential } from '../access/demand.ts';
import { htmlErrorPage } from '../answers/html-error-page.ts';
import { jsonAnswer } from '../answers/legacy-answer.ts';
import { missingPermission } from '../answers/legacy-errors.ts';
import { refuse } from '../answers/legacy-refusal.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';
import { toAction } from '../render/to-action.ts';
import { cancelAction } from '../store/cancel-action.ts';
import { findNode } from '../store/find-node.ts';
import { readPathId } from '../store/path-id.ts';
import { recordAction } from '../store/record-action.ts';

const LAST_WIKIFIED = `SELECT id FROM actions WHERE node_id = ? AND verb = 'wikified' AND canceled_at IS NULL
  ORDER BY acted_at DESC, id DESC LIMIT 1`;

/**
 * Operation 12: the node stops being a community wiki and its `wikified` action is cancelled. A node that is no wiki is
 * the conflict that the legacy server answers with an HTML page and status 401.
 */
export const cancelWiki: LegacyRoute = {
  operation: 12,
  method: 'PUT',
  path: '/services/v2/node/:nodeId/cancelwiki.json',
  answer: ({ caller, param }, context) => {
    const { sql, clock } = context;
    demandCredential(caller);
    const node = findNode(sql, readPathId(param('nodeId'), 'node id'), caller);
    const own = node.author_id === caller.id && caller.permissions.has('Convert own posts to community wiki');
    if (!own && !caller.permissions.has('Mark as community wiki')) refuse(missingPermission());
    if (node.wiki === 0) refuse(htmlErrorPage(401, 'This node is not a community wiki'));
    const action = sql.transaction(() => {
      sql.run('UPDATE nodes SET wiki = 0 WHERE id = ?', node.id);
      const known = sql.get<{ id: number }>(LAST_WIKIFIED, node.id);
      const id = known?.id ?? recordAction(sql, 'wikified', node.author_id, node, clock()).id;
      return cancelAction(sql, id, caller.id, clock());
    });
    return jsonAnswer({ success: true, result: { wikifyAction: toAction(context, action) } });
  },
};
