import { beforeAll, describe, expect, it } from 'vitest';
import { basic } from '../../builders/call.ts';
import { expectError } from '../../builders/expect-error.ts';
import { exampleResponse } from '../../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../../builders/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../../builders/test-gateway.ts';
import { createTestClock, type TestClock } from '../../builders/test-clock.ts';
import { until } from '../../builders/until.ts';
import { AUDIENCE, createKey, type Issuer, type SigningKey, startIssuer } from './start-issuer.ts';

const QUESTIONS = '/services/v2/question.json';
const IDEAS = '/services/v2/idea.json';
const SERVICE = { kind: 'service', username: 'robot', password: 'robot-secret' };
const ROLES = { claim: 'groups', map: { readers: 'anonymous', reporters: 'custom' } };

let upstream: FakeUpstream;
let key: SigningKey;
let issuer: Issuer;
beforeAll(async () => {
  upstream = await startFakeUpstream(exampleResponse);
  key = await createKey('first');
  issuer = await startIssuer(key);
});

interface At {
  readonly gateway: TestGateway;
  readonly clock: TestClock;
  readonly ask: (
    token: string,
    target?: string,
  ) => Promise<{
    readonly reply: Awaited<ReturnType<TestGateway['call']>>;
    readonly status: number;
    readonly sent: readonly (string | undefined)[];
  }>;
}

async function start(own: object = {}, config: object = {}): Promise<At> {
  // The provider uses the system's clock.
  const clock = createTestClock(Date.now());
  const { issuers, ...more } = { issuers: [{}], ...own } as { issuers: readonly object[] };
  const gateway = await startTestGateway({
    upstream,
    clock,
    config: {
      upstream: { credentials: SERVICE },
      authentication: { failures: { limit: 1_000 } },
      oidc: {
        issuers: issuers.map((one) =>
          Object.assign({ issuer: issuer.url, audience: AUDIENCE, caller: 'account' }, one),
        ),
        ...more,
      },
      ...config,
    },
  });
  return {
    gateway,
    clock,
    async ask(token, target = QUESTIONS) {
      const before = upstream.requests.length;
      const reply = await gateway.call(target, { user: null, headers: { Authorization: `Bearer ${token}` } });
      const sent = upstream.requests.slice(before).map((request) => request.headers.authorization);
      return { reply, status: reply.status, sent };
    },
  };
}

const seconds = () => Math.floor(Date.now() / 1000);
const claims = (more: object = {}) => ({
  iss: issuer.url,
  aud: AUDIENCE,
  sub: 'alice',
  account: 'alice',
  iat: seconds(),
  exp: seconds() + 300,
  ...more,
});

describe('a token of an OpenID Connect issuer', () => {
  it('lets the caller in whom the issuer has authenticated, and the upstream gets the service account', async () => {
    const at = await start();
    const token = await issuer.tokenFor('alice');
    const { status, sent } = await at.ask(token, `${QUESTIONS}?pageSize=2`);
    expect([status, sent]).toEqual([200, [basic('robot', 'robot-secret')]]);
    expect((await at.ask(token, IDEAS)).status).toBe(200);
  });

  it('gives callers the roles of its claim, and no others', async () => {
    const at = await start({ issuers: [{ roles: ROLES }] });
    const [reader, reporter, stranger] = await Promise.all(
      ['alice', 'reporter', 'stranger'].map((client) => issuer.tokenFor(client)),
    );
    const statuses = async (token = '') => [
      (await at.ask(token, QUESTIONS)).status,
      (await at.ask(token, IDEAS)).status,
    ];
    // Alice's account may see ideas, but the claim decides.
    expect(await statuses(reader)).toEqual([200, 403]);
    expect(await statuses(reporter)).toEqual([403, 200]);
    expect(await statuses(stranger)).toEqual([403, 403]);
  });

  it('does not share pages with callers of other roles', async () => {
    const at = await start(
      { issuers: [{ roles: { claim: 'groups', map: { readers: 'standard', reporters: 'site administration' } } }] },
      { operations: { listQuestions: { cache: { audience: 'permissions' } } } },
    );
    const target = `${QUESTIONS}?pageSize=11`;
    const token = (groups: readonly string[]) => key.sign(claims({ groups }));
    await at.ask(await token(['readers']), target);
    const other = await at.ask(await token(['readers', 'reporters']), target);
    expect(other.reply.headers['cache-status']).not.toContain('hit');
    expect((await at.ask(await token(['readers']), target)).reply.headers['cache-status']).toContain('hit');
  });

  it('gets a 501 where the upstream needs the credential of the caller', async () => {
    const at = await start();
    const { reply, sent } = await at.ask(await issuer.tokenFor('alice'), '/services/v2/comment/271.json');
    expectError(reply, 501, 'needs_caller_credential');
    expect(sent).toEqual([]);
  });

  it('is accepted until it expires, with the leeway, and not any longer, even if it was remembered', async () => {
    const at = await start({ issuers: [{ leewaySeconds: 10 }] });
    const token = await key.sign(claims({ exp: Math.floor(at.clock() / 1000) + 60 }));
    expect((await at.ask(token)).status).toBe(200);
    at.clock.advance(69);
    expect((await at.ask(token)).status).toBe(200);
    at.clock.advance(2);
    expectError((await at.ask(token)).reply, 401, 'credentials_refused');
  });

  it('is accepted with a key that the issuer has just begun to use, and refused with one that it withdrew', async () => {
    const own = await startIssuer(key);
    const next = await createKey('next');
    const at = await start({ issuers: [{ issuer: own.url }], refetchSeconds: 30, keysSeconds: 600 });
    const [old, fresh] = [await key.sign(claims({ iss: own.url })), await next.sign(claims({ iss: own.url }))];
    expect((await at.ask(old)).status).toBe(200);
    own.rotate(next);
    at.clock.advance(31);
    expect((await at.ask(fresh)).status).toBe(200);
    // The memory of verified credentials ends after `authentication.cacheSeconds`.
    at.clock.advance(31);
    expect((await at.ask(old)).status).toBe(401);
  });

  it('asks the issuer at most once in refetchSeconds, however many unknown keys tokens name', async () => {
    const own = await startIssuer(key);
    const at = await start({ issuers: [{ issuer: own.url }], refetchSeconds: 30 });
    expect((await at.ask(await key.sign(claims({ iss: own.url })))).status).toBe(200);
    const asked = own.requests.length;
    expect(asked).toBe(2);
    at.clock.advance(31);
    const other = await createKey('other');
    for (let count = 0; count < 20; count += 1)
      expect((await at.ask(await other.sign(claims({ iss: own.url, jti: String(count) })))).status).toBe(401);
    expect(own.requests).toHaveLength(asked + 2);
  });

  it('gets a 503 while the issuer does not respond, and never a 401', async () => {
    const own = await startIssuer(key);
    own.fail(true);
    const at = await start({ issuers: [{ issuer: own.url }], refetchSeconds: 30 });
    const token = await key.sign(claims({ iss: own.url, exp: seconds() + 7_200 }));
    const { reply } = await at.ask(token);
    expectError(reply, 503, 'verification_unavailable');
    for (let count = 0; count < 5; count += 1) expect((await at.ask(token)).status).toBe(503);
    expect(own.requests).toHaveLength(1);
    own.fail(false);
    at.clock.advance(31);
    expect((await at.ask(token)).status).toBe(200);
    // A short outage does no harm.
    own.fail(true);
    at.clock.advance(61);
    expect((await at.ask(token)).status).toBe(200);
    // The issuer may have withdrawn the keys in the meantime.
    at.clock.advance(1_200);
    expect((await at.ask(token)).status).toBe(503);
    expect(at.gateway.log.join('\n')).toContain('the keys of the issuer cannot be fetched');
  });

  it('gets a 503 if what the issuer publishes is that of another one, is too large, or leads elsewhere', async () => {
    const { kty, n, e, kid, alg } = key.jwk;
    const keys = { keys: [{ kty, n, e, kid, alg }] };
    const published = (url: string, more: object = {}) => ({ issuer: url, jwks_uri: `${url}/keys`, ...more });
    const kinds: readonly ((url: string) => { configuration: object; keys?: object })[] = [
      (url) => ({ configuration: published(url, { issuer: 'https://issuer.example' }) }),
      (url) => ({ configuration: published(url, { jwks_uri: `${url.replace('127.0.0.1', '0.0.0.0')}/keys` }) }),
      (url) => ({ configuration: published(url, { padding: 'x'.repeat(300_000) }) }),
      (url) => ({ configuration: published(url), keys: {} }),
    ];
    for (const kind of [...kinds, (url: string) => ({ configuration: published(url) })]) {
      const server = await startFakeUpstream(({ path }) => {
        const { configuration, keys: given = keys } = kind(server.url) as { configuration: object; keys?: object };
        return { json: path === '/keys' ? given : configuration };
      });
      const at = await start({ issuers: [{ issuer: server.url }] });
      const { status } = await at.ask(await key.sign(claims({ iss: server.url })));
      expect([kind.toString(), status]).toEqual([kind.toString(), kinds.includes(kind) ? 503 : 200]);
    }
  });

  it('is refused if anything in it is wrong, and what is obviously wrong causes no request to the issuer', async () => {
    const own = await startIssuer(key);
    const at = await start({ issuers: [{ issuer: own.url }] });
    const good = claims({ iss: own.url });
    expect((await at.ask(await key.sign(good))).status).toBe(200);
    const asked = own.requests.length;
    at.clock.advance(3_600);
    const now = Math.floor(at.clock() / 1000);
    const valid = { ...good, iat: now, exp: now + 300 };
    const ec = await createKey('first', 'ES512');
    const wrong: readonly (readonly [string, string])[] = [
      ['another audience', await key.sign({ ...valid, aud: 'https://other.example/' })],
      ['no audience', await key.sign({ ...valid, aud: undefined })],
      ['another issuer', await key.sign({ ...valid, iss: 'https://issuer.example' })],
      ['expired', await key.sign({ ...valid, exp: now - 31 })],
      ['no end', await key.sign({ ...valid, exp: undefined })],
      ['not yet valid', await key.sign({ ...valid, nbf: now + 31 })],
      ['issued in the future', await key.sign({ ...valid, iat: now + 31 })],
      ['no caller', await key.sign({ ...valid, account: undefined })],
      ['a caller with a colon', await key.sign({ ...valid, account: 'alice:x' })],
      ['a caller that is not a text', await key.sign({ ...valid, account: ['alice'] })],
      ['an algorithm that is not allowed', await ec.sign(valid)],
      ['no algorithm', unsigned(valid, 'none')],
      ['a shared secret', unsigned(valid, 'HS256')],
      ['a logout token', await key.sign(valid, { typ: 'logout+jwt' })],
      ['bound to a key', await key.sign({ ...valid, cnf: { jkt: 'x' } })],
      ['an unknown critical header', unsigned(valid, 'RS256', { crit: ['x'], x: 1 })],
      ['of a type that is not a text', unsigned(valid, 'RS256', { typ: 5 })],
      ['an algorithm that is not a text', unsigned(valid, 'RS256', { alg: ['RS256'] })],
      ['claims of other types', unsigned({ ...valid, aud: 5, exp: '9', nbf: null }, 'RS256')],
      ['not JSON', `eyJhbGciOiJSUzI1NiJ9.${Buffer.from('x').toString('base64url')}.AAAA`],
      ['too long', await key.sign({ ...valid, padding: 'x'.repeat(9_000) })],
    ];
    for (const [what, token] of wrong) {
      const { status, sent } = await at.ask(token);
      expect([what, status, sent]).toEqual([what, 401, []]);
    }
    expect(own.requests).toHaveLength(asked);
    const forged = await (await createKey('first')).sign(valid);
    expect((await at.ask(forged)).status).toBe(401);
    expect((await at.ask(await key.sign(valid))).status).toBe(200);
  });

  it('is told that its roles grant too little', async () => {
    const at = await start({ issuers: [{ roles: ROLES }] });
    const { reply } = await at.ask(await issuer.tokenFor('alice'), IDEAS);
    expectError(reply, 403, 'permission_denied');
    expect(reply.headers['www-authenticate']).toBe('Bearer realm="Portico", error="insufficient_scope"');
  });

  it('never reaches the upstream, wherever it stands in the header, even if authentication is only reported', async () => {
    const at = await start(
      {},
      {
        mode: 'staging',
        checks: { authentication: 'report', permissions: 'report' },
        upstream: { credentials: { kind: 'forward' } },
      },
    );
    const token = await key.sign(claims());
    const expired = await key.sign(claims({ exp: 1 }));
    for (const authorization of [
      `Bearer ${expired}`,
      token,
      `Token ${token}`,
      `Bearer "${expired}"`,
      basic('alice', token),
      basic(token, ''),
      basic('', token),
    ]) {
      const before = upstream.requests.length;
      const { status } = await at.gateway.call(`${QUESTIONS}?pageSize=1`, {
        user: null,
        headers: { Authorization: authorization },
      });
      const sent = upstream.requests.slice(before).map(({ headers }) => headers.authorization);
      expect([authorization, status, sent]).toEqual([authorization, 200, [undefined]]);
    }
  });

  it('does not lock out others behind the same address when somebody sends wrong ones', async () => {
    const at = await start({}, { authentication: { failures: { limit: 3, limitPerName: 3 } } });
    const forger = await createKey('first');
    const statuses: number[] = [];
    for (let count = 0; count < 5; count += 1)
      statuses.push((await at.ask(await forger.sign(claims({ account: 'bob', jti: String(count) })))).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect((await at.ask(await key.sign(claims()))).status).toBe(200);
    const { status } = await at.gateway.call(QUESTIONS, { user: 'bob' });
    expect(status).toBe(200);
  });

  it('is counted, and so are the fetches of keys', async () => {
    const own = await startIssuer(key);
    const at = await start({ issuers: [{ issuer: own.url }], refetchSeconds: 30 });
    const token = await key.sign(claims({ iss: own.url, exp: seconds() + 7_200 }));
    await at.ask(token);
    await at.ask(await key.sign(claims({ iss: own.url, aud: 'https://other.example' })));
    own.fail(true);
    at.clock.advance(3_600);
    expect((await at.ask(token)).status).toBe(503);
    expect(await at.gateway.metrics('portico_oidc_verifications_total', 'outcome')).toEqual({
      valid: 1,
      invalid: 1,
      unavailable: 1,
    });
    const fetches = async (outcome: string) =>
      at.gateway.metric(`portico_oidc_key_fetches_total{issuer="${own.url}",outcome="${outcome}"}`);
    expect([await fetches('fetched'), await fetches('failed')]).toEqual([1, 1]);
  });

  it('does not wait for an issuer that hangs while the keys are good enough', async () => {
    const { kty, n, e, kid, alg } = key.jwk;
    let release: (() => void) | undefined;
    let hangs = false;
    const server = await startFakeUpstream(async ({ path }) => {
      if (hangs) await new Promise<void>((resolve) => (release = resolve));
      return {
        json:
          path === '/keys'
            ? { keys: [{ kty, n, e, kid, alg }] }
            : { issuer: server.url, jwks_uri: `${server.url}/keys` },
      };
    });
    const at = await start({ issuers: [{ issuer: server.url }], keysSeconds: 600 });
    const ask = async () => (await at.ask(await key.sign(claims({ iss: server.url, exp: seconds() + 7_200 })))).status;
    expect(await ask()).toBe(200);
    hangs = true;
    at.clock.advance(601);
    // The fetch has begun, and does not end before the response.
    expect(await ask()).toBe(200);
    await until(() => release !== undefined);
    hangs = false;
    release?.();
  });

  it('is explained without asking the issuer', async () => {
    const own = await startIssuer(key);
    const at = await start({ issuers: [{ issuer: own.url, roles: ROLES }] });
    const asked = own.requests.length;
    const token = await (await createKey('unknown')).sign(claims({ iss: own.url, groups: ['readers'] }));
    const explain = async (target: string) =>
      (await at.gateway.gateway.explain({ method: 'GET', target, token })).find(({ name }) => name === 'verdict')?.text;
    expect(await explain(QUESTIONS)).toContain('forwarded');
    expect(await explain(IDEAS)).toContain('403 permission_denied');
    expect(own.requests).toHaveLength(asked);
    // Only an explanation assumes that the signature is right.
    expect((await at.ask(token)).status).toBe(401);
  });

  it('changes nothing in observe mode, which asks no issuer', async () => {
    const own = await startIssuer(key);
    const at = await start(
      { issuers: [{ issuer: own.url }] },
      { mode: 'observe', upstream: { credentials: { kind: 'forward' } } },
    );
    const token = await key.sign(claims({ iss: own.url }));
    const { status, sent } = await at.ask(token);
    expect([status, sent]).toEqual([200, [`Bearer ${token}`]]);
    expect(own.requests).toEqual([]);
  });

  it('never reaches the log', async () => {
    const at = await start({}, { logging: { level: 'trace' } });
    const token = await issuer.tokenFor('alice');
    await at.ask(token);
    await at.ask(`${token.slice(0, -8)}AAAAAAAA`);
    const [, payload = '-', signature = '-'] = token.split('.');
    for (const text of [payload, signature]) expect(at.gateway.log.join('\n')).not.toContain(text);
  });
});

/** Returns a token with a header that no library would sign. */
function unsigned(payload: object, alg: string, more: object = {}): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signature = alg === 'none' ? '' : 'AAAA';
  return `${part({ alg, typ: 'JWT', kid: 'first', ...more })}.${part(payload)}.${signature}`;
}

describe('the configuration of issuers', () => {
  it('must use https, unless the issuer is on this machine, and name each issuer once', async () => {
    const started = start({ issuers: [{ issuer: 'http://issuer.example' }, {}, {}] });
    const error = (await started.catch((reason: unknown) => reason)) as Error;
    expect(error.message).toContain('must be an https address');
    expect(error.message).toContain('is listed twice');
  });

  it('warns of roles that do not exist', async () => {
    const at = await start({ issuers: [{ roles: { claim: 'groups', map: { x: 'standart' } } }] });
    expect(at.gateway.log.join('\n')).toContain(
      '\\"standart\\" is not a role in the roles file (did you mean standard?)',
    );
  });
});
