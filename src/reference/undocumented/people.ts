import { demandPermissions } from '../access/demand.ts';
import { jsonAnswer } from '../answers/legacy-answer.ts';
import { notFound } from '../answers/legacy-errors.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';
import { listUsers } from '../lists/list-users.ts';
import { project, readProjection } from '../lists/projection.ts';
import { toUser } from '../render/to-user.ts';
import { readPathId } from '../store/path-id.ts';
import type { UserRow } from '../store/rows.ts';

/** Users beyond the documented lists: all of them, one by id, one by name. */
export const peopleRoutes: readonly LegacyRoute[] = [
  {
    method: 'GET',
    path: '/services/v2/user.json',
    answer: (request, { sql }) => {
      demandPermissions(request.caller, 'View users list');
      return jsonAnswer(listUsers(sql, request, { text: '1 = 1', values: [] }));
    },
  },
  {
    method: 'GET',
    path: '/services/v2/user/getByUsername.json',
    answer: ({ caller, query }, { sql }) => {
      demandPermissions(caller, "View user's profile");
      const user = sql.get<UserRow>('SELECT * FROM users WHERE username = ?', query.get('username') ?? '');
      return user === undefined ? notFound() : jsonAnswer(project(toUser(sql, user), readProjection(query)));
    },
  },
  {
    method: 'GET',
    path: '/services/v2/user/:userId.json',
    answer: ({ caller, query, param }, { sql }) => {
      demandPermissions(caller, "View user's profile");
      const user = sql.get<UserRow>('SELECT * FROM users WHERE id = ?', readPathId(param('userId'), 'user id'));
      return user === undefined ? notFound() : jsonAnswer(project(toUser(sql, user), readProjection(query)));
    },
  },
];
