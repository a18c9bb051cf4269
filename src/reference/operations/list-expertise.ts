import { demandPermissions } from '../access/demand.ts';
import { jsonAnswer } from '../answers/legacy-answer.ts';
import { notFound } from '../answers/legacy-errors.ts';
import { refuse } from '../answers/legacy-refusal.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';
import { listTopics } from '../lists/list-topics.ts';
import { readPathId } from '../store/path-id.ts';

const ANSWERED = `t.id IN (SELECT nt.topic_id FROM nodes a JOIN node_topics nt ON nt.node_id = a.parent_id
  WHERE a.author_id = ? AND a.type = 'answer')`;

/** Operation 15: the topics of the questions that a user answered. */
export const listExpertise: LegacyRoute = {
  operation: 15,
  method: 'GET',
  path: '/services/v2/user/:userId/expertise.json',
  answer: (request, { sql }) => {
    demandPermissions(request.caller, "View user's profile");
    const id = readPathId(request.param('userId'), 'user id');
    if (sql.get('SELECT 1 FROM users WHERE id = ?', id) === undefined) refuse(notFound());
    return jsonAnswer(listTopics(sql, request, { text: ANSWERED, values: [id] }));
  },
};
