import { randomUUID } from 'node:crypto';
import { demandCredential, demandPermissions } from '../http/demand.ts';
import { notFound } from '../http/errors.ts';
import { jsonAnswer } from '../http/legacy-response.ts';
import { readPathId } from '../http/path-id.ts';
import type { LegacyRoute } from '../http/route.ts';
import { listUsers } from '../lists/list-users.ts';
import { project, readProjection } from '../lists/projection.ts';
import { toUser } from '../render/to-user.ts';
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

/** Exchanges a Basic credential for a token that `Authorization: Bearer` and `x-auth-token` then carry. */
export const authTokenRoute: LegacyRoute = {
  method: 'POST',
  path: '/services/v2/auth/token.json',
  answer: ({ caller }, { sql, clock }) => {
    demandCredential(caller);
    const token = randomUUID();
    sql.run('INSERT INTO tokens (token, user_id, created_at) VALUES (?, ?, ?)', token, caller.id, clock());
    return jsonAnswer({ token, tokenType: 'Bearer', userId: caller.id }, 200, {
      'Set-Cookie': `JSESSIONID=${token}; Path=/; HttpOnly`,
    });
  },
};
