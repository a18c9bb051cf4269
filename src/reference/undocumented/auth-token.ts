import { randomUUID } from 'node:crypto';
import { demandCredential } from '../access/demand.ts';
import { jsonAnswer } from '../answers/legacy-answer.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';

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
