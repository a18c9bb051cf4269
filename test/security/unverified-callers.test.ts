import { levelsIn } from '../builders/levels-in.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ClientResponse, basic } from '../builders/call.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { expectError } from '../builders/expect-error.ts';
import { type FakeHandler, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { fastRoles } from '../builders/fast-roles.ts';
import { knowing, PROBE } from '../builders/knowing-upstream.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { ownPassword, startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

/**
 * The attack: with `permissions: enforce` and `authentication: report`, a caller sends a credential that cannot be
 * verified, for example `Basic` followed by 4,200 spaces. With the `upstream` verifier, Portico left the decision to
 * the upstream, as it does for unknown callers. As a result, no page was refused, and no private field in a comment was
 * removed, although permissions were enforced.
 */

const LEVELS = ['off', 'report', 'enforce'] as const;
type Level = (typeof LEVELS)[number];

const RESTRICTED = '/services/v2/idea.json';
const PUBLIC = '/services/v2/question.json';
const COMMENTS = '/services/v2/node/118/comment.json';
const ANSWER_COMMENTS = '/services/v2/answer/204/comment.json';
const OPERATIONS = [RESTRICTED, PUBLIC, COMMENTS, ANSWER_COMMENTS] as const;
type Target = (typeof OPERATIONS)[number];

/** The valid credential of a user who may read everything. */
const ALICE = basic('alice', ownPassword('alice'));

/** The headers that a caller sends, and the kind of caller that they identify, if any. */
interface Credential {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly is?: 'reader' | 'stranger' | 'malformed';
}
const CREDENTIALS: Readonly<Record<string, Credential>> = {
  'no credential': { headers: {} },
  'a session without Authorization': { headers: { 'X-Auth-Token': 'abc', Cookie: 'session=abc' } },
  'the credential of a user who may read everything': { headers: { Authorization: ALICE }, is: 'reader' },
  'a valid credential after several spaces': {
    headers: { Authorization: ALICE.replace(' ', '    ') },
    is: 'reader',
  },
  'a valid credential without an account in the roles file': {
    headers: { Authorization: basic('stranger') },
    is: 'stranger',
  },
  'a wrong password': { headers: { Authorization: basic('alice', 'guessed') } },
  'spaces beyond the longest credential': { headers: { Authorization: `Basic${' '.repeat(4200)}x` } },
  'a valid credential after too many spaces': {
    headers: { Authorization: ALICE.replace(' ', ' '.repeat(4200)) },
  },
  'an overlong token': { headers: { Authorization: `Basic ${'A'.repeat(5000)}` } },
  'a token that is not Base64': { headers: { Authorization: 'Basic !!!' } },
  'a token without a colon': { headers: { Authorization: `Basic ${Buffer.from('alice').toString('base64')}` } },
  'a name with a control character': { headers: { Authorization: basic('ali\u0000ce', ownPassword('alice')) } },
  'an empty name': { headers: { Authorization: basic('', ownPassword('alice')) } },
  'an empty header': { headers: { Authorization: '' } },
  'the scheme alone': { headers: { Authorization: 'Basic' } },
  'a Bearer token': { headers: { Authorization: 'Bearer abc.def.ghi' } },
  'Bearer and Basic in one header': { headers: { Authorization: `Bearer abc, ${ALICE}` } },
  'two credentials': { headers: { Authorization: [ALICE, basic('bob', ownPassword('bob'))] }, is: 'malformed' },
};

/** Responds with the examples, but adds private fields to every comment. */
const respond: FakeHandler = (request) => {
  const usual = exampleResponse(request);
  if (request.path !== COMMENTS && request.path !== ANSWER_COMMENTS) return usual;
  const page = exampleOf(request.path === COMMENTS ? 'listNodeComments' : 'listAnswerComments');
  const comments = (request.path === COMMENTS ? page : page.list) as unknown as object[];
  for (const comment of comments)
    Object.assign(comment, { visibility: 'recipients', recipients: [{ id: 7, type: 'user' }] });
  return { json: page };
};

const showsPrivate = ({ text }: ClientResponse) => text.includes('"visibility"') || text.includes('"recipients"');

/** Returns the expected result of a request when the two checks have these levels. */
function expected(authentication: Level, permissions: Level, { is, headers }: Credential, target: Target): string {
  if (is === 'malformed') return '400';
  const verified = authentication !== 'off' && (is === 'reader' || is === 'stranger');
  if (authentication === 'enforce' && !verified)
    return `401 ${headers['Authorization'] === undefined ? 'credentials_required' : 'credentials_refused'}`;
  const isPrivate = target === COMMENTS || target === ANSWER_COMMENTS;
  if (permissions !== 'enforce') return isPrivate ? '200 private' : '200';
  if (!verified && target === RESTRICTED) return '401 credentials_required';
  return isPrivate && verified ? '200 private' : '200';
}

function outcome(got: ClientResponse): string {
  if (got.status === 401) {
    expect(got.headers['www-authenticate']).toMatch(/^Basic realm=/);
    return `401 ${got.json['code']}`;
  }
  return showsPrivate(got) ? `${got.status} private` : String(got.status);
}

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream(knowing(respond));
});

const start = (config: object, clock = createTestClock(), roles?: string): Promise<TestGateway> =>
  startTestGateway({
    ...(roles === undefined ? {} : { roles }),
    upstream: fake,
    real: true,
    keepAccounts: true,
    clock,
    config: { mode: 'staging', ...config },
  });

async function expectTable(gateway: TestGateway, authentication: Level, permissions: Level): Promise<void> {
  const got: Record<string, string> = {};
  const want: Record<string, string> = {};
  // Each request is sent twice, because the first may leave something in the memo or the cache that affects the second.
  for (const round of [1, 2])
    for (const [name, credential] of Object.entries(CREDENTIALS))
      for (const target of OPERATIONS) {
        const row = `${name}, ${target}, request ${round}`;
        got[row] = outcome(await gateway.call(target, { user: null, headers: credential.headers }));
        want[row] = expected(authentication, permissions, credential, target);
      }
  expect(got).toEqual(want);
}

const levels = LEVELS.flatMap((authentication) => LEVELS.map((permissions) => ({ authentication, permissions })));

describe.each([
  ['globally', (checks: object) => ({ checks })],
  [
    'per operation, against the opposite globally',
    (checks: object) => ({
      checks: { authentication: 'off', permissions: 'off' },
      operations: Object.fromEntries(
        ['listIdeas', 'listQuestions', 'listNodeComments', 'listAnswerComments'].map((id) => [id, { checks }]),
      ),
    }),
  ],
] as const)('a caller who cannot be verified, with levels set %s', (_where, config) => {
  it.each(levels)(
    'has the permissions of an anonymous caller: authentication $authentication, permissions $permissions',
    async ({ authentication, permissions }) => {
      const gateway = await start(config({ authentication, permissions }));
      await expectTable(gateway, authentication, permissions);
    },
  );
});

const ENFORCED = { authentication: 'report', permissions: 'enforce' };
const SPACES = { user: null, headers: { Authorization: `Basic${' '.repeat(4200)}x` } };

describe('an unverified caller under enforced permissions', () => {
  it('is verified before the first response, so that a valid credential counts immediately', async () => {
    const gateway = await start({ checks: ENFORCED });
    expect((await gateway.call(RESTRICTED, { user: 'alice' })).status).toBe(200);
    expectError(await gateway.call(RESTRICTED, { user: 'guest' }), 403, 'permission_denied');
  });

  // The author of a node may do more than other callers. For an unverified name, however, the author is not looked
  // up.
  it('is not treated as the author of a node', async () => {
    const roles = (await fastRoles()).replace(
      '      - View the questions list',
      '      - Convert own posts to community wiki\n$&',
    );
    const gateway = await start({ checks: ENFORCED }, createTestClock(), roles);
    const before = fake.requests.length;
    const got = await gateway.call('/services/v2/node/118/cancelwiki.json', { ...SPACES, method: 'PUT' });
    expectError(got, 401, 'credentials_required');
    expect(fake.requests).toHaveLength(before);
  });

  // If the verifier cannot be reached, nothing is known about a credential, so a caller with a valid one must not
  // receive a 401.
  it('gets 503 if the verifier is unreachable, but still gets public pages', async () => {
    const clock = createTestClock();
    const gateway = await start({ checks: ENFORCED }, clock);
    fake.handler = (request, response) =>
      request.path === PROBE ? { status: 500, json: { error: 'down' } } : respond(request, response);
    try {
      const got = await gateway.call(RESTRICTED, { user: 'moderator' });
      expectError(got, 503, 'verification_unavailable');
      expect(got.headers['retry-after']).toBeDefined();
      expect((await gateway.call(PUBLIC, { user: 'moderator' })).status).toBe(200);
      expect(showsPrivate(await gateway.call(COMMENTS, { user: 'moderator' }))).toBe(false);
    } finally {
      fake.handler = knowing(respond);
    }
  });

  it('turns a probe that accepts every credential into a configuration error at startup', async () => {
    fake.handler = (request, response) => (request.path === PROBE ? { status: 404 } : respond(request, response));
    try {
      await expect(start({ checks: ENFORCED })).rejects.toThrow(/accepts a wrong credential/);
    } finally {
      fake.handler = knowing(respond);
    }
  });

  it('gets no private field of a stale page, nor of one that another request is fetching', async () => {
    const clock = createTestClock();
    const gateway = await start({ checks: ENFORCED, cache: { enabled: true } }, clock);
    const first = await Promise.all([1, 2, 3].map(() => gateway.call(ANSWER_COMMENTS, SPACES)));
    expect(first.map(outcome)).toEqual(['200', '200', '200']);
    expect(outcome(await gateway.call(ANSWER_COMMENTS, { user: 'alice' }))).toBe('200 private');
    clock.advance(45);
    expect(outcome(await gateway.call(ANSWER_COMMENTS, SPACES))).toBe('200');
    expect(outcome(await gateway.call(ANSWER_COMMENTS, SPACES))).toBe('200');
  });

  it('loses access to what it read while permissions were only reported, once the ladder enforces them', async () => {
    const clock = createTestClock();
    const promote = { enabled: true, checks: ['permissions'], minAnswers: 2, windowHours: 1 };
    const config = {
      checks: { authentication: 'report', permissions: 'report' },
      cache: { enabled: true, freshSeconds: 86_000 },
      levels: { promote },
    };
    const gateway = await start(config, clock);
    const { ladder } = levelsIn(gateway.gateway);
    const { records: ledger } = gateway.gateway.services;
    // A caller who may use both operations sends enough requests for a promotion to `enforce`. In the meantime, the
    // attacker's own pages are cached.
    await gateway.call(ANSWER_COMMENTS, { user: 'alice' });
    await expect.poll(async () => (await gateway.call(RESTRICTED, { user: 'alice' })).status).toBe(200);
    for (const target of [RESTRICTED, ANSWER_COMMENTS])
      for (let index = 0; index < 4; index += 1) await gateway.call(target, { user: 'alice' });
    expect(outcome(await gateway.call(RESTRICTED, SPACES))).toBe('200');
    expect(outcome(await gateway.call(ANSWER_COMMENTS, SPACES))).toBe('200 private');
    clock.advance(3700);
    await ladder.promote(ledger);
    expect(ladder.checksFor('listAnswerComments').permissions).toBe('enforce');
    expect(ladder.checksFor('listIdeas').permissions).toBe('enforce');
    expect(outcome(await gateway.call(RESTRICTED, SPACES))).toBe('401 credentials_required');
    expect(outcome(await gateway.call(ANSWER_COMMENTS, SPACES))).toBe('200');
  });
});

describe('permissions that are enforced in observe mode', () => {
  // `observe` mode changes no bytes. If it refused pages but still showed private fields, permissions would only seem
  // to be enforced.
  it.each([
    [{ checks: { permissions: 'enforce' } }, '/checks/permissions'],
    [{ operations: { listNodeComments: { checks: { permissions: 'enforce' } } } }, '/operations/listNodeComments'],
  ])('are a configuration error at startup on operations with private fields: %j', async (config, pointer) => {
    const message = new RegExp(`${pointer}.*observe does not remove private fields`);
    await expect(start({ ...config, mode: 'observe' })).rejects.toThrow(message);
  });

  it('are accepted on every other operation', async () => {
    const operations = { listIdeas: { checks: { permissions: 'enforce' } } };
    const gateway = await start({ mode: 'observe', operations });
    expect((await gateway.call(RESTRICTED, SPACES)).status).toBe(401);
    expect((await gateway.call(RESTRICTED, { user: 'alice' })).status).toBe(200);
  });
});
