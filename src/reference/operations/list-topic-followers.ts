import { demandPermissions } from '../access/demand.ts';
import { jsonAnswer } from '../answers/legacy-answer.ts';
import { notFound } from '../answers/legacy-errors.ts';
import { refuse } from '../answers/legacy-refusal.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';
import { listFollowers } from '../lists/list-followers.ts';
import { readPathId } from '../store/path-id.ts';

/** Operation 10: the followers of a topic. */
export const listTopicFollowers: LegacyRoute = {
  operation: 10,
  method: 'GET',
  path: '/services/v2/topic/:topicId/followers.json',
  answer: (request, { sql }) => {
    demandPermissions(request.caller, 'View users list');
    const id = readPathId(request.param('topicId'), 'topic id');
    if (sql.get('SELECT 1 FROM topics WHERE id = ?', id) === undefined) refuse(notFound());
    return jsonAnswer(listFollowers(sql, request, { kind: 'topic', id, type: 'topic' }));
  },
};
