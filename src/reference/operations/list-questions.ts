import { demandPermissions } from '../access/demand.ts';
import { jsonAnswer } from '../answers/legacy-answer.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';
import { listNodes } from '../lists/list-nodes.ts';
import { toNode } from '../render/to-node.ts';

/** Operation 6: the question list. */
export const listQuestions: LegacyRoute = {
  operation: 6,
  method: 'GET',
  path: '/services/v2/question.json',
  answer: (request, { sql }) => {
    demandPermissions(request.caller, 'View the questions list');
    return jsonAnswer(listNodes(sql, request, { types: ['question'], defaultSort: 'active', toItem: toNode }));
  },
};
