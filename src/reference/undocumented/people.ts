import { randomUUID } from 'node:crypto';
import { requireCredential, requirePermissions } from '../http/caller.ts';
import { notFound, jsonResponse } from '../http/legacy-response.ts';
import { type LegacyRoute, readPathId } from '../http/route.ts';
import { listUsers } from '../lists/list-people.ts';
import { project, readProjection } from '../lists/projection.ts';
import { toUser } from '../render/to-user.ts';
import type { UserRow } from '../store/sql.ts';

/** Undocumented routes for users: all users, one user by id, and one user by name. */
export const peopleRoutes: readonly LegacyRoute[] = [
  {
    method: 'GET',
    path: '/services/v2/user.json',
    respond: (request, { sql }) => {
      requirePermissions(request.caller, 'View users list');
      return jsonResponse(listUsers(sql, request, { text: '1 = 1', values: [] }));
    },
  },
  {
    method: 'GET',
    path: '/services/v2/user/getByUsername.json',
    respond: ({ caller, query }, { sql }) => {
      requirePermissions(caller, "View user's profile");
      const user = sql.get<UserRow>('SELECT * FROM users WHERE username = ?', query.get('username') ?? '');
      return user === undefined ? notFound() : jsonResponse(project(toUser(sql, user), readProjection(query)));
    },
  },
  {
    method: 'GET',
    path: '/services/v2/user/:userId.json',
    respond: ({ caller, query, param }, { sql }) => {
      requirePermissions(caller, "View user's profile");
      const user = sql.get<UserRow>('SELECT * FROM users WHERE id = ?', readPathId(param('userId'), 'user id'));
      return user === undefined ? notFound() : jsonResponse(project(toUser(sql, user), readProjection(query)));
    },
  },
];

/** Exchanges a Basic credential for a token, which clients can send as `Authorization: Bearer` or `x-auth-token`. */
export const authTokenRoute: LegacyRoute = {
  method: 'POST',
  path: '/services/v2/auth/token.json',
  respond: ({ caller }, { sql, clock }) => {
    requireCredential(caller);
    const token = randomUUID();
    sql.run('INSERT INTO tokens (token, user_id, created_at) VALUES (?, ?, ?)', token, caller.id, clock());
    return jsonResponse({ token, tokenType: 'Bearer', userId: caller.id }, 200, {
      'Set-Cookie': `JSESSIONID=${token}; Path=/; HttpOnly`,
    });
  },
};
