import { describe, expect, it } from 'vitest';
import { REFERENCE_ACCOUNTS } from '../../../src/reference/reference-accounts.ts';
import { withReferenceServer } from '../with-reference-server.ts';
import { textLike } from '../matchers.ts';

const { call } = withReferenceServer();
const path = '/jobs/gdpr/0.json';

const statusOf = async (address: string, method = 'GET'): Promise<number> =>
  (await call(address, { user: null, method })).status;

describe('authentication', () => {
  it('accepts the password of each demo account', async () => {
    for (const { name, password } of REFERENCE_ACCOUNTS) {
      expect((await call(path, { user: name, password })).status).toBe(404);
    }
  });

  it.each([
    ['a wrong password', { user: 'admin', password: 'wrong' }],
    ['an unknown user', { user: 'nobody' }],
    ['no colon', { user: null, headers: { authorization: `Basic ${Buffer.from('admin').toString('base64')}` } }],
    ['an unknown scheme', { user: null, headers: { authorization: 'Digest x' } }],
    ['an unknown bearer token', { user: null, headers: { authorization: 'Bearer x' } }],
    ['an unknown x-auth-token', { user: null, headers: { 'x-auth-token': 'x' } }],
  ])('responds to %s with 401 and a challenge, even on public lists', async (_, credential) => {
    for (const address of [path, '/question.json']) {
      const { status, headers, json } = await call(address, credential);
      expect([status, headers['www-authenticate'], json]).toEqual([
        401,
        textLike(/^Basic realm=/),
        { error: 'Bad credentials' },
      ]);
    }
  });

  it('lets anonymous callers read public lists, but nothing that requires a credential', async () => {
    expect(await statusOf('/question.json')).toBe(200);
    expect(await statusOf('/topic/21/followers.json')).toBe(200);
    expect(await statusOf('/user/7/expertise.json')).toBe(200);
    for (const address of ['/action.json', path, '/group/1/user.json']) {
      const { status, headers } = await call(address, { user: null });
      expect([status, headers['www-authenticate']]).toEqual([401, textLike(/^Basic /)]);
    }
  });

  it('exchanges a Basic credential for a token that both headers accept', async () => {
    const { json } = await call('/auth/token.json', { method: 'POST', user: 'alice' });
    const carried = [{ authorization: `Bearer ${json.token}` }, { 'x-auth-token': json.token }];
    for (const headers of carried) expect((await call(path, { user: null, headers })).status).toBe(404);
    expect((await call('/auth/token.json', { method: 'POST', user: null })).status).toBe(401);
    expect((await call('/auth/token.json', { method: 'POST', user: 'alice', password: 'x' })).status).toBe(401);
  });
});
