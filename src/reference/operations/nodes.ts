import { requirePermissions } from '../http/caller.ts';
import { jsonResponse } from '../http/legacy-response.ts';
import type { LegacyRoute } from '../http/route.ts';
import { listNodes } from '../lists/list-nodes.ts';
import { toIdea, toNode } from '../render/to-node.ts';

/** Operation 6: the question list. */
export const listQuestions: LegacyRoute = {
  operation: 6,
  method: 'GET',
  path: '/services/v2/question.json',
  respond: (request, { sql }) => {
    requirePermissions(request.caller, 'View the questions list');
    return jsonResponse(listNodes(sql, request, { types: ['question'], defaultSort: 'active', toItem: toNode }));
  },
};

/** Operation 13: the article list. */
export const listArticles: LegacyRoute = {
  operation: 13,
  method: 'GET',
  path: '/services/v2/article.json',
  respond: (request, { sql }) => {
    requirePermissions(request.caller, 'View list kbentry');
    return jsonResponse(listNodes(sql, request, { types: ['kbentry'], defaultSort: 'active', toItem: toNode }));
  },
};

/** Operation 8: the idea list. */
export const listIdeas: LegacyRoute = {
  operation: 8,
  method: 'GET',
  path: '/services/v2/idea.json',
  respond: (request, { sql }) => {
    requirePermissions(request.caller, 'View list idea');
    return jsonResponse(listNodes(sql, request, { types: ['idea'], defaultSort: 'active', toItem: toIdea }));
  },
};
