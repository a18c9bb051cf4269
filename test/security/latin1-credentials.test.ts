import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { fastHash } from '../builders/fast-roles.ts';
import { PROBE } from '../builders/knowing-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

const QUESTIONS = '/services/v2/question.json';

const inLatin1 = (text: string) => `Basic ${Buffer.from(text, 'latin1').toString('base64')}`;
const inUtf8 = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

// Many HTTP libraries send Basic credentials in Latin-1.
describe('a credential in Latin-1', () => {
  let fake: FakeUpstream;
  const valid = new Set<string>();
  beforeAll(async () => {
    fake = await startFakeUpstream(exampleResponse);
  });
  beforeEach(() => {
    fake.requests.length = 0;
    valid.clear();
    fake.handler = (request) =>
      request.target === PROBE
        ? { status: valid.has(request.headers.authorization ?? '') ? 404 : 401 }
        : exampleResponse(request);
  });
  const ask = (gateway: TestGateway, authorization: string) =>
    gateway.call(QUESTIONS, { user: null, headers: { Authorization: authorization } });
  const start = (config: object = {}) =>
    startTestGateway({ upstream: fake, real: true, config: { mode: 'strict', ...config } });

  it('is accepted if the upstream accepts it, verified once, and sent as it came', async () => {
    const gateway = await start({ cache: { enabled: false } });
    const sent = inLatin1('jörg:pässwörd');
    valid.add(sent);
    const before = fake.requests.length;
    expect((await ask(gateway, sent)).status).toBe(200);
    // The same bytes, written in another way.
    expect((await ask(gateway, sent.replace('Basic ', 'basic   ').replaceAll('=', ''))).status).toBe(200);
    const requests = fake.requests.slice(before);
    expect(requests.filter(({ target }) => target === PROBE)).toHaveLength(1);
    expect(new Set(requests.map(({ headers }) => headers.authorization))).toEqual(new Set([sent]));
  });

  it('is another credential than the same text in UTF-8', async () => {
    const gateway = await start();
    valid.add(inLatin1('jörg:pässwörd'));
    expect((await ask(gateway, inLatin1('jörg:pässwörd'))).status).toBe(200);
    expect((await ask(gateway, inUtf8('jörg:pässwörd'))).status).toBe(401);
  });

  it('counts as the same name as in UTF-8 for the limit on failed logins', async () => {
    const gateway = await start({ authentication: { failures: { limit: 3, windowSeconds: 60 } } });
    const statuses: number[] = [];
    for (const encode of [inLatin1, inUtf8, inLatin1, inUtf8, inLatin1])
      statuses.push((await ask(gateway, encode(`jörg:guess ${statuses.length}`))).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
  });

  it('is verified against the roles file, in either encoding', async () => {
    const hash = await fastHash('pässwörd');
    const gateway = await startTestGateway({
      upstream: fake,
      real: true,
      config: { mode: 'strict', authentication: { verifier: 'file' } },
      roles: `roles: { reader: { permissions: [View the questions list] } }
accounts: [{ name: jörg, roles: [reader], passwordHash: '${hash}' }]
`,
    });
    expect((await ask(gateway, inLatin1('jörg:pässwörd'))).status).toBe(200);
    expect((await ask(gateway, inUtf8('jörg:pässwörd'))).status).toBe(200);
    expect((await ask(gateway, inLatin1('jörg:passwörd'))).status).toBe(401);
  });
});
