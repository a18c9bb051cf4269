import { demandPermissions } from '../access/demand.ts';
import { jsonAnswer } from '../answers/legacy-answer.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';
import { listNodes } from '../lists/list-nodes.ts';
import { toNode } from '../render/to-node.ts';
import { findNode } from '../store/find-node.ts';
import { readPathId } from '../store/path-id.ts';

/** Operation 16: the comments of an answer, in the envelope. */
export const listAnswerComments: LegacyRoute = {
  operation: 16,
  method: 'GET',
  path: '/services/v2/answer/:answerId/comment.json',
  answer: (request, { sql }) => {
    const { caller } = request;
    demandPermissions(caller, 'View answers in the question page', 'View the question page');
    const answer = findNode(sql, readPathId(request.param('answerId'), 'answer id'), caller, 'answer');
    const condition = { text: 'n.parent_id = ?', values: [answer.id] };
    return jsonAnswer(listNodes(sql, request, { types: ['comment'], condition, defaultSort: '', toItem: toNode }));
  },
};
