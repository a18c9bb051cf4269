import { demandPermissions } from '../access/demand.ts';
import { jsonAnswer } from '../answers/legacy-answer.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';
import { toNode } from '../render/to-node.ts';
import { visibleNodes } from '../render/visible-nodes.ts';
import { findNode } from '../store/find-node.ts';
import { readPathId } from '../store/path-id.ts';
import type { NodeRow } from '../store/rows.ts';

/** Operation 5: the comments directly below a node, a bare array, oldest first. */
export const listNodeComments: LegacyRoute = {
  operation: 5,
  method: 'GET',
  path: '/services/v2/node/:nodeId/comment.json',
  answer: (request, { sql }) => {
    const { caller } = request;
    demandPermissions(caller, 'View answers in the question page', 'View the question page');
    const node = findNode(sql, readPathId(request.param('nodeId'), 'node id'), caller);
    const visible = visibleNodes(caller);
    const rows = sql.all<NodeRow>(
      `SELECT n.* FROM nodes n WHERE n.parent_id = ? AND n.type IN ('comment', 'ideacomment') AND ${visible.text}
       ORDER BY n.created_at, n.id`,
      node.id,
      ...visible.values,
    );
    return jsonAnswer(rows.map((row) => toNode(sql, row, caller)));
  },
};
