import { demandCredential, demandPermissions } from '../access/demand.ts';
import { jsonAnswer } from '../answers/legacy-answer.ts';
import { notFound } from '../answers/legacy-errors.ts';
import { refuse } from '../answers/legacy-refusal.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';
import { listUsers } from '../lists/list-users.ts';
import { readPathId } from '../store/path-id.ts';

/** Operation 9: the users of a group. */
export const listGroupUsers: LegacyRoute = {
  operation: 9,
  method: 'GET',
  path: '/services/v2/group/:groupId/user.json',
  answer: (request, { sql }) => {
    demandCredential(request.caller);
    demandPermissions(request.caller, 'Edit users and groups');
    const id = readPathId(request.param('groupId'), 'group id');
    if (sql.get('SELECT 1 FROM groups WHERE id = ?', id) === undefined) refuse(notFound());
    const members = 'u.id IN (SELECT user_id FROM group_members WHERE group_id = ?)';
    return jsonAnswer(listUsers(sql, request, { text: members, values: [id] }));
  },
};
