import { demandPermissions } from '../access/demand.ts';
import { jsonAnswer } from '../answers/legacy-answer.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';
import { project, readProjection } from '../lists/projection.ts';
import { toNode } from '../render/to-node.ts';
import { findNode } from '../store/find-node.ts';
import { readPathId } from '../store/path-id.ts';

/** Operation 4: one comment. */
export const getComment: LegacyRoute = {
  operation: 4,
  method: 'GET',
  path: '/services/v2/comment/:commentId.json',
  answer: ({ caller, query, param }, { sql }) => {
    demandPermissions(caller, 'View answers in the question page', 'View the question page');
    const comment = findNode(sql, readPathId(param('commentId'), 'comment id'), caller, 'comment', 'ideacomment');
    return jsonAnswer(project(toNode(sql, comment, caller), readProjection(query)));
  },
};
