import { demandPermissions } from '../access/demand.ts';
import { jsonAnswer } from '../answers/legacy-answer.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';
import { listFollowers } from '../lists/list-followers.ts';
import { findNode } from '../store/find-node.ts';
import { readPathId } from '../store/path-id.ts';

/** Operation 14: the followers of a node. */
export const listNodeFollowers: LegacyRoute = {
  operation: 14,
  method: 'GET',
  path: '/services/v2/node/:nodeId/followers.json',
  answer: (request, { sql }) => {
    demandPermissions(request.caller, 'View users list');
    const node = findNode(sql, readPathId(request.param('nodeId'), 'node id'), request.caller);
    return jsonAnswer(listFollowers(sql, request, { kind: 'node', id: node.id, type: node.type }));
  },
};
