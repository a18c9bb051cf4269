import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startReferenceServer } from '../../src/reference/start-reference-server.ts';
import { cleanUpAfterFile } from '../builders/clean-up.ts';
import { basic } from '../builders/call.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { expectError } from '../builders/expect-error.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { fastHash, fastRoles } from '../builders/fast-roles.ts';
import { PROBE } from '../builders/knowing-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

const QUESTIONS = '/services/v2/question.json';
const USERS = '/services/v2/topic/3/followers.json';

/** Spellings of `guest` that a server might treat as the same name. */
const SPELLINGS = [
  'GUEST',
  'Guest',
  'gUEST',
  ' guest',
  'guest ',
  '\u00a0Guest\u2003',
  'ｇｕｅｓｔ',
  'GUE\u017ft',
  'gue\u200bst',
  'gu\u00adest',
];

// The attack: the server ignores the differences, so all spellings reach the same account, for which the gateway would
// have no rules if it took each spelling for another account.
describe('other spellings of the name of an account', () => {
  let fake: FakeUpstream;
  beforeAll(async () => {
    fake = await startFakeUpstream(exampleResponse);
  });
  beforeEach(() => {
    fake.requests.length = 0;
    fake.handler = (request) => {
      if (request.target !== PROBE) return exampleResponse(request);
      const [name = '', password] = Buffer.from(request.headers.authorization?.slice(6) ?? '', 'base64')
        .toString()
        .split(':');
      return { status: password === 'right' && name !== '' ? 404 : 401 };
    };
  });

  const strict = (config: Record<string, unknown> = {}, unmapped?: string) =>
    startTestGateway({
      upstream: fake,
      real: true,
      keepAccounts: true,
      config: {
        mode: 'strict',
        ...config,
        roles: { ...(unmapped !== undefined && { unmapped }), ...(config['roles'] as object | undefined) },
      },
    });

  const ask = (gateway: TestGateway, user: string, password = 'right', target = USERS) =>
    gateway.call(target, { user, password });

  describe.each(['delegate', 'custom', 'deny'])('with unmapped: %s', (unmapped) => {
    it.each(['exact', 'ignoreCase'])('do not escape its role under %s', async (names) => {
      const gateway = await strict({ roles: { names } }, unmapped);
      const target = '/services/v2/article.json';
      const own = await ask(gateway, 'guest', 'right', target);
      expectError(own, 403, 'permission_denied');
      const sent = fake.requests.filter((request) => request.target !== PROBE).length;
      for (const name of SPELLINGS) expectError(await ask(gateway, name, 'right', target), 403, 'permission_denied');
      expect(fake.requests.filter((request) => request.target !== PROBE)).toHaveLength(sent);
    });
  });

  it('are denied with a reason that names the cure, and grant nothing', async () => {
    const gateway = await strict();
    expect((await ask(gateway, 'admin', 'right', QUESTIONS)).status).toBe(200);
    const got = await ask(gateway, 'ADMIN', 'right', QUESTIONS);
    expectError(got, 403, 'permission_denied');
    expect(got.text).toContain('another spelling');
  });

  it('have the role of the account under ignoreCase, but only if nothing but the case differs', async () => {
    const gateway = await strict({ roles: { names: 'ignoreCase' } });
    expect((await ask(gateway, 'ADMIN', 'right', QUESTIONS)).status).toBe(200);
    for (const name of ['ａdmin', ' admin', 'adm\u200bin'])
      expectError(await ask(gateway, name, 'right', QUESTIONS), 403, 'permission_denied');
  });

  it('do not affect names that are not spellings of an account', async () => {
    const gateway = await strict();
    for (const name of ['guests', 'gues', 'g uest', 'gúest'])
      expect((await ask(gateway, name, 'right', QUESTIONS)).status).toBe(200);
  });

  it('share one limit on failed logins', async () => {
    const gateway = await strict({ authentication: { failures: { limit: 3, windowSeconds: 60 } } });
    const before = fake.requests.length;
    const statuses: number[] = [];
    for (const name of SPELLINGS) statuses.push((await ask(gateway, name, 'wrong')).status);
    expect(statuses).toEqual([401, 401, 401, ...Array<number>(SPELLINGS.length - 3).fill(429)]);
    expect(fake.requests.length - before).toBe(3);
  });

  it('share one rate limit per caller, and the rate limits of the roles of the account', async () => {
    const rules = [
      { name: 'each', per: 'caller', requests: 4, windowSeconds: 60 },
      { name: 'guests', per: 'role', roles: ['anonymous'], requests: 2, windowSeconds: 60 },
    ];
    const gateway = await strict({ rateLimits: rules, checks: { permissions: 'report' } });
    const statuses: number[] = [];
    for (const name of ['guest', 'GUEST', 'Guest']) statuses.push((await ask(gateway, name)).status);
    expect(statuses).toEqual([200, 200, 429]);
    const others: number[] = [];
    for (const name of ['stranger', 'Stranger', ' stranger', 'STRANGER', 'ſtranger'])
      others.push((await ask(gateway, name)).status);
    expect(others).toEqual([200, 200, 200, 200, 429]);
  });

  it('count as one caller for duplicate uploads', async () => {
    const gateway = await strict({ checks: { permissions: 'report' } });
    const upload = (user: string) =>
      gateway.call('/services/v2/users/gdpr/upload.json', {
        user,
        password: 'right',
        method: 'POST',
        body: { content: 'username\nalice\n' },
      });
    expect((await upload('admin')).status).toBe(201);
    expectError(await upload('Admin'), 409, 'duplicate_upload');
    expect((await upload('moderator')).status).toBe(201);
  });

  it('do not share stored responses', async () => {
    const gateway = await strict({ checks: { permissions: 'report' } });
    await ask(gateway, 'guest', 'right', QUESTIONS);
    const got = await ask(gateway, 'GUEST', 'right', QUESTIONS);
    expect(got.headers['cache-status']).toContain('miss');
  });

  it('prevent the start if two accounts become one', async () => {
    const roles = `roles: { standard: {} }
accounts:
  - { name: anna, roles: [standard] }
  - { name: ANNA, roles: [standard] }
`;
    const start = (names: string) =>
      startTestGateway({ upstream: fake, real: true, roles, config: { mode: 'strict', roles: { names } } });
    await expect(start('ignoreCase')).rejects.toThrow(
      '"ANNA" and "anna" are the same name with roles.names: ignoreCase',
    );
    await expect(start('exact')).resolves.toBeDefined();
  });

  it('log in with the verifier file under ignoreCase only', async () => {
    const roles = `roles: { standard: { permissions: [View users list] } }
accounts:
  - { name: anna, roles: [standard], passwordHash: '${await fastHash('right')}' }
`;
    const start = (names: string) =>
      startTestGateway({
        upstream: fake,
        real: true,
        roles,
        config: { mode: 'strict', authentication: { verifier: 'file' }, roles: { names } },
      });
    expect((await ask(await start('ignoreCase'), 'ANNA')).status).toBe(200);
    expect((await ask(await start('exact'), 'ANNA')).status).toBe(401);
  });
});

describe('a server that ignores case', () => {
  it('is protected by the roles of its accounts', async () => {
    const reference = await startReferenceServer({ ignoreCase: true });
    cleanUpAfterFile(() => reference.close());
    const direct = await fetch(`${reference.url}${QUESTIONS}`, {
      headers: { Authorization: basic('GUEST ', 'guest') },
    });
    expect(direct.status).toBe(200);
    const gateway = await startTestGateway({
      upstream: reference,
      real: true,
      roles: await fastRoles([{ name: 'low', roles: [] }]),
      keepAccounts: true,
      config: { mode: 'strict', roles: { names: 'ignoreCase' } },
    });
    expect((await gateway.call(QUESTIONS, { user: 'ALICE', password: 'alice' })).status).toBe(200);
    const articles = await gateway.call('/services/v2/article.json', { user: 'GUEST', password: 'guest' });
    expectError(articles, 403, 'permission_denied');
  });
});
