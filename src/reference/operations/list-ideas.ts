import { demandPermissions } from '../access/demand.ts';
import { jsonAnswer } from '../answers/legacy-answer.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';
import { listNodes } from '../lists/list-nodes.ts';
import { toIdea } from '../render/to-idea.ts';

/** Operation 8: the idea list. */
export const listIdeas: LegacyRoute = {
  operation: 8,
  method: 'GET',
  path: '/services/v2/idea.json',
  answer: (request, { sql }) => {
    demandPermissions(request.caller, 'View list idea');
    return jsonAnswer(listNodes(sql, request, { types: ['idea'], defaultSort: 'active', toItem: toIdea }));
  },
};
