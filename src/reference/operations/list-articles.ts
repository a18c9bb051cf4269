import { demandPermissions } from '../access/demand.ts';
import { jsonAnswer } from '../answers/legacy-answer.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';
import { listNodes } from '../lists/list-nodes.ts';
import { toNode } from '../render/to-node.ts';

/** Operation 13: the article list. */
export const listArticles: LegacyRoute = {
  operation: 13,
  method: 'GET',
  path: '/services/v2/article.json',
  answer: (request, { sql }) => {
    demandPermissions(request.caller, 'View list kbentry');
    return jsonAnswer(listNodes(sql, request, { types: ['kbentry'], defaultSort: 'active', toItem: toNode }));
  },
};
