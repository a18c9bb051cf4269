import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { basic } from '../../builders/call.ts';
import { expectError } from '../../builders/expect-error.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { formatToken } from '../../../src/features/tokens/token-format.ts';
import {
  ADMIN_TOKEN,
  COMMENT,
  keyFile,
  keyText,
  QUESTIONS,
  SCOPE,
  SERVICE,
  startTokenGateway,
  type TokenGateway,
} from './token-gateway.ts';

const ROBOT = basic(SERVICE.username, SERVICE.password);
/** An operation for which alice has the permission, but her tokens here do not. */
const IDEAS = '/services/v2/idea.json';

describe('a token', () => {
  let at: TokenGateway;
  beforeAll(async () => {
    at = await startTokenGateway();
  });

  it('lets its holder in for its caller, and the upstream gets the service account', async () => {
    const { token } = await at.create();
    const { status, sent } = await at.ask(`Bearer ${token}`, `${QUESTIONS}?pageSize=3`);
    expect([status, sent]).toEqual([200, [ROBOT]]);
  });

  it('is accepted as the password of its caller, and of nobody else', async () => {
    const { token } = await at.create();
    expect(await at.ask(basic('alice', token), `${QUESTIONS}?pageSize=4`)).toMatchObject({
      status: 200,
      sent: [ROBOT],
    });
    const { reply, sent } = await at.ask(basic('bob', token));
    expectError(reply, 401, 'credentials_refused');
    expect(sent).toEqual([]);
  });

  it('does not let its holder do what it was not created for, or what its caller may not do any more', async () => {
    const { token } = await at.create();
    const denied = await at.ask(`Bearer ${token}`, IDEAS);
    expectError(denied.reply, 403, 'permission_denied');
    expect(denied.sent).toEqual([]);
    expect((await at.gateway.call(IDEAS, { user: 'alice' })).status).toBe(200);
    const both = await at.create({ scope: [...SCOPE, 'View list idea'] });
    expect((await at.ask(`Bearer ${both.token}`, IDEAS)).status).toBe(200);
  });

  it('is told that its scope is too small, but only where it is sent as a token', async () => {
    const own = await startTokenGateway({
      config: {
        undocumented: { allow: [{ method: 'GET', path: '/services/v2/space.json', permission: 'Edit users' }] },
      },
    });
    const { token } = await own.create();
    const narrow = await own.create({ operations: ['listArticles'] });
    const insufficient = 'Bearer realm="Portico", error="insufficient_scope"';
    for (const [used, target] of [
      [token, IDEAS],
      [token, '/services/v2/space.json'],
      [narrow.token, QUESTIONS],
    ] as const) {
      const { reply } = await own.ask(`Bearer ${used}`, target);
      expect([reply.status, reply.headers['www-authenticate']]).toEqual([403, insufficient]);
    }
    // Basic has no such error, and a password has no scope.
    for (const authorization of [basic('alice', token), basic('guest')]) {
      const { reply } = await own.ask(authorization, IDEAS);
      expect([reply.status, reply.headers['www-authenticate']]).toEqual([403, undefined]);
    }
    // An address is nothing that another token would change.
    const distant = await own.create({ networks: ['192.0.2.0/24'] });
    const { reply } = await own.ask(`Bearer ${distant.token}`);
    expect([reply.status, reply.headers['www-authenticate']]).toEqual([403, undefined]);
  });

  it('is refused from the next request on a connection that stays open, also for a stored page', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const { id, token } = await at.create();
    const ask = () => at.ask(`Bearer ${token}`, `${QUESTIONS}?pageSize=9`, { agent });
    expect((await ask()).status).toBe(200);
    const { reply, sent } = await ask();
    expect([reply.headers['cache-status'], sent]).toEqual([expect.stringContaining('hit'), []]);
    await at.change('/revoke', { id });
    const refused = await ask();
    expectError(refused.reply, 401, 'credentials_refused');
    expect(refused.sent).toEqual([]);
    agent.destroy();
  });

  it('never gets a page that was stored for more permissions', async () => {
    const own = await startTokenGateway({
      config: { operations: { listQuestions: { cache: { audience: 'permissions' } } } },
    });
    const { token } = await own.create();
    const statusOf = async (authorization: string) =>
      String((await own.ask(authorization)).reply.headers['cache-status']);
    expect(await statusOf(basic('alice'))).toContain('fwd=miss');
    expect(await statusOf(basic('alice'))).toContain('hit');
    expect(await statusOf(`Bearer ${token}`)).toContain('fwd=miss');
    expect(await statusOf(`Bearer ${token}`)).toContain('hit');
  });

  it('gets a 501 with the reason where the upstream needs the credential of the caller', async () => {
    const { token } = await at.create({ scope: ['View the question page', 'View answers in the question page'] });
    const { reply, sent } = await at.ask(`Bearer ${token}`, COMMENT);
    expectError(reply, 501, 'needs_caller_credential');
    expect(reply.text).toContain('a token is never sent to the upstream');
    expect(sent).toEqual([]);
  });

  it('is refused from the moment at which it is revoked', async () => {
    const { id, token } = await at.create();
    expect((await at.ask(`Bearer ${token}`)).status).toBe(200);
    const { status, json } = await at.change('/revoke', { id });
    expect([status, json.revoked.state, json.stored]).toEqual([200, 'revoked', true]);
    const { reply, sent } = await at.ask(`Bearer ${token}`);
    expectError(reply, 401, 'credentials_refused');
    expect(reply.headers['www-authenticate']).toBe(
      'Bearer realm="Portico", error="invalid_token", Basic realm="Portico", charset="UTF-8"',
    );
    expect(sent).toEqual([]);
    expect((await at.change('/revoke', { id })).status).toBe(409);
  });

  it('ends at its time', async () => {
    const own = await startTokenGateway();
    const { token } = await own.create({ expiresDays: 1 });
    own.clock.advance(86_399);
    expect((await own.ask(`Bearer ${token}`)).status).toBe(200);
    own.clock.advance(1);
    expectError((await own.ask(`Bearer ${token}`)).reply, 401, 'credentials_refused');
  });

  it('can be replaced: both are accepted until the overlap ends', async () => {
    const own = await startTokenGateway();
    const old = await own.create({ networks: ['127.0.0.0/8'], operations: ['listQuestions'] });
    const { json } = await own.change('/rotate', { id: old.id, overlapHours: 2 });
    expect(json.created).toMatchObject({
      for: 'alice',
      scope: SCOPE,
      networks: ['127.0.0.0/8'],
      operations: ['listQuestions'],
    });
    own.clock.advance(7_199);
    for (const token of [old.token, json.token]) expect((await own.ask(`Bearer ${token}`)).status).toBe(200);
    own.clock.advance(1);
    expect((await own.ask(`Bearer ${old.token}`)).status).toBe(401);
    expect((await own.ask(`Bearer ${json.token}`)).status).toBe(200);
  });

  it('is accepted only for its operations, also on undocumented paths', async () => {
    const undocumented = { allow: [{ method: 'GET', path: '/services/v2/space.json' }] };
    const own = await startTokenGateway({ config: { undocumented } });
    const { token } = await own.create({ operations: ['listArticles'] });
    for (const target of [QUESTIONS, '/services/v2/space.json']) {
      const { reply, sent } = await own.ask(`Bearer ${token}`, target);
      expectError(reply, 403, 'token_not_allowed');
      expect(sent).toEqual([]);
    }
  });

  it('is accepted only from its networks', async () => {
    const own = await startTokenGateway({ config: { listen: { trustedProxies: ['127.0.0.1'] } } });
    const { token } = await own.create({ networks: ['192.0.2.0/24', '2001:db8::/32'] });
    const from = (address: string) =>
      own.ask(`Bearer ${token}`, QUESTIONS, { headers: { 'X-Forwarded-For': address } }).then(({ status }) => status);
    expect([await from('192.0.2.9'), await from('2001:db8::9'), await from('::ffff:192.0.2.9')]).toEqual([
      200, 200, 200,
    ]);
    expect([await from('192.0.3.9'), await from('2001:db9::9')]).toEqual([403, 403]);
  });

  it('is stored only as a keyed hash, in a file that only its owner can read', async () => {
    const own = await startTokenGateway();
    const { id, token } = await own.create();
    const text = readFileSync(own.file, 'utf8');
    expect(statSync(own.file).mode & 0o777).toBe(0o600);
    expect(text).toContain(id);
    expect(text).not.toContain(token.slice('ptk_'.length + 17, -8));
  });

  it('survives a restart, and so does a revocation', async () => {
    const folder = tempFolder();
    const first = await startTokenGateway({ folder });
    const [kept, gone] = [await first.create(), await first.create()];
    await first.change('/revoke', { id: gone.id });
    await first.gateway.close();
    const second = await startTokenGateway({ folder });
    expect((await second.ask(`Bearer ${kept.token}`)).status).toBe(200);
    expect((await second.ask(`Bearer ${gone.token}`)).status).toBe(401);
  });

  it('is worthless once anything in its record has been changed by someone without the key', async () => {
    const folder = tempFolder();
    const first = await startTokenGateway({ folder });
    const { token } = await first.create({ operations: ['listQuestions'], networks: ['127.0.0.1'] });
    await first.gateway.close();
    const text = readFileSync(first.file, 'utf8');
    const changes: readonly (readonly [string | RegExp, string])[] = [
      ['"caller": "alice"', '"caller": "admin"'],
      ['"View the question page"', '"Edit users and groups"'],
      ['"listQuestions"', '"listArticles"'],
      ['"127.0.0.1"', '"0.0.0.0/0"'],
      [/"expiresAt": "\d{4}/, '"expiresAt": "2050'],
    ];
    for (const [from, to] of changes) {
      const changed = text.replace(from, to);
      expect(changed).not.toBe(text);
      const other = tempFolder();
      writeFileSync(`${other}/tokens.json`, changed, { mode: 0o600 });
      const second = await startTokenGateway({ folder: other });
      expect((await second.ask(`Bearer ${token}`)).status).toBe(401);
      await second.gateway.close();
    }
  });

  it('stays valid while the key is replaced, and is refused under a third key', async () => {
    const folder = tempFolder();
    const first = await startTokenGateway({ folder });
    const { token } = await first.create();
    await first.gateway.close();
    const next = keyFile('next', folder);
    const both = await startTokenGateway({
      folder,
      config: { tokens: { keyFile: next, previousKeyFile: keyFile('tokens', folder) } },
    });
    expect((await both.ask(`Bearer ${token}`)).status).toBe(200);
    await both.gateway.close();
    const last = await startTokenGateway({ folder, config: { tokens: { keyFile: next } } });
    expect((await last.ask(`Bearer ${token}`)).status).toBe(401);
  });

  it('stores its last use at most once an hour', async () => {
    const own = await startTokenGateway();
    const { token } = await own.create();
    const used = async () => (await own.list())[0]?.lastUsed;
    expect(await used()).toBeUndefined();
    await own.ask(`Bearer ${token}`);
    const first = await used();
    expect(first).toBe(new Date(own.clock()).toISOString());
    own.clock.advance(3_599);
    await own.ask(`Bearer ${token}`);
    expect(await used()).toBe(first);
    own.clock.advance(1);
    await own.ask(`Bearer ${token}`);
    expect(await used()).toBe(new Date(own.clock()).toISOString());
  });

  it('counts toward the limits of its caller', async () => {
    const own = await startTokenGateway({
      config: { rateLimits: [{ name: 'callers', requests: 2, windowSeconds: 60 }] },
    });
    const { token } = await own.create();
    const statuses = [];
    for (const authorization of [basic('alice'), `Bearer ${token}`, basic('alice', token), basic('bob')])
      statuses.push((await own.ask(authorization)).status);
    expect(statuses).toEqual([200, 200, 429, 200]);
  });

  it('can be created as soon as a reload has set the key, and is refused once another has removed it', async () => {
    const own = await startTokenGateway({ config: { tokens: { keyFile: undefined } } });
    expect((await own.change('', { for: 'alice', scope: SCOPE, expiresDays: 1 })).status).toBe(404);
    const upstream = { credentials: SERVICE };
    const without = { upstream, tokens: { file: own.file } };
    await own.gateway.reload({ config: { ...without, tokens: { ...without.tokens, keyFile: keyFile('tokens') } } });
    const { token } = await own.create();
    expect((await own.ask(`Bearer ${token}`)).status).toBe(200);
    await own.gateway.reload({ config: without });
    const { reply, sent } = await own.ask(`Bearer ${token}`);
    expect([reply.status, sent]).toEqual([401, []]);
  });

  it('is explained, with what the upstream gets, and explaining it is not a use', async () => {
    const own = await startTokenGateway();
    const { id, token } = await own.create();
    const steps = await own.gateway.gateway.explain({ method: 'GET', target: QUESTIONS, as: 'alice', password: token });
    expect(steps).toContainEqual({ name: 'token', text: `${id}: ${SCOPE.join(', ')}` });
    expect(steps.find(({ name }) => name === 'sent as')?.text).toContain('the service account');
    expect((await own.list())[0]).not.toHaveProperty('lastUsed');
    expect(await own.gateway.metrics('portico_token_verifications_total', 'outcome')).toMatchObject({ valid: 0 });
  });

  it('is explained by its id alone, which says to whom the upstream attributes each request', async () => {
    const own = await startTokenGateway({ config: { tokens: { sealingKeyFile: keyFile('sealing') } } });
    const { id, token } = await own.create({ scope: [...SCOPE, 'View answers in the question page'] });
    const explain = async (target: string, what = id) => {
      const steps = await own.gateway.gateway.explain({ method: 'GET', target, token: what });
      return Object.fromEntries(steps.map(({ name, text }) => [name, text]));
    };
    expect(await explain(QUESTIONS)).toMatchObject({
      caller: 'alice (verified)',
      'sent as': 'the service account, to which the upstream attributes the request',
    });
    expect(await explain(COMMENT)).toMatchObject({
      'sent as': 'nobody: the upstream needs the credential of the caller, and no password is enrolled',
      verdict: expect.stringContaining('501 needs_caller_credential') as string,
    });
    expect((await explain(IDEAS))['verdict']).toContain('403 permission_denied');
    await own.change('/enroll', { id, password: 'own-password' });
    expect((await explain(COMMENT))['sent as']).toContain('alice, with the enrolled password');
    await own.change('/revoke', { id });
    expect((await explain(QUESTIONS))['verdict']).toContain('401 credentials_refused');
    expect((await explain(QUESTIONS, 'f'.repeat(16)))['verdict']).toContain('401 credentials_refused');
    // Only an explanation trusts an id.
    expect((await own.ask(`Bearer ${id}`)).status).toBe(401);
    expect((await own.ask(`Bearer ${token}`)).status).toBe(401);
  });

  it('is counted by the outcome of its verification, and by its state', async () => {
    const own = await startTokenGateway({ config: { tokens: { sealingKeyFile: keyFile('sealing') } } });
    const valid = await own.create();
    const [revoked, short] = [await own.create(), await own.create({ expiresDays: 1 })];
    const replaced = await own.create({ expiresDays: 8 });
    const expiring = await own.create({ expiresDays: 8 });
    await own.change('/enroll', { id: valid.id, password: 'own-password' });
    await own.change('/revoke', { id: revoked.id });
    await own.change('/rotate', { id: replaced.id, overlapHours: 720, expiresDays: 90 });
    own.clock.advance(86_400);
    const states = () => own.gateway.metrics('portico_tokens', 'state');
    // Its replacement is valid for long, so nobody need do anything about `replaced`.
    expect(await states()).toEqual({ valid: 3, expiring: 1, ended: 1, revoked: 1 });
    expect(await own.gateway.metric('portico_token_passwords')).toBe(1);
    const wrong = formatToken({ id: valid.id, secret: 'a'.repeat(40) });
    for (const token of [valid.token, expiring.token, wrong, revoked.token, short.token])
      await own.ask(`Bearer ${token}`);
    await own.ask(basic('bob', valid.token));
    expect(await own.gateway.metrics('portico_token_verifications_total', 'outcome')).toEqual({
      valid: 2,
      wrong: 2,
      ended: 1,
      revoked: 1,
      unavailable: 0,
    });
  });

  it('names its id, and only that, in the access log', async () => {
    const { id, token } = await at.create();
    await at.ask(`Bearer ${token}`, QUESTIONS, { headers: { 'X-Request-Id': 'with-a-token' } });
    expect(await at.gateway.lineOf('with-a-token')).toMatchObject({ token: id });
    expect(at.gateway.log.join('\n')).not.toContain(token.slice(21, -8));
  });
});

describe('a request with something else than a token', () => {
  let at: TokenGateway;
  beforeAll(async () => {
    // Many wrong tokens come from one address here.
    at = await startTokenGateway({ config: { authentication: { failures: { limit: 1_000 } } } });
  });

  it('is refused without any look at the tokens if it is malformed', async () => {
    const { token } = await at.create();
    const wrong = [
      'Bearer ptk_',
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`,
      `Bearer ${token.toUpperCase()}`,
      'Bearer something-else',
      'Bearer',
      basic('alice', token.slice(0, -1)),
    ];
    for (const authorization of wrong) {
      const { reply, sent } = await at.ask(authorization);
      expectError(reply, 401, 'credentials_refused');
      expect(reply.text).toMatch(/does not contain a valid (?:Bearer|Basic) credential/);
      expect(sent).toEqual([]);
    }
  });

  it('is refused if the secret is wrong, or the id does not exist', async () => {
    const { id } = await at.create();
    for (const wrong of [
      { id, secret: 'a'.repeat(40) },
      { id: 'b'.repeat(16), secret: 'a'.repeat(40) },
    ]) {
      const { reply, sent } = await at.ask(`Bearer ${formatToken(wrong)}`);
      expectError(reply, 401, 'credentials_refused');
      expect(sent).toEqual([]);
    }
  });

  it('counts failed attempts as those of passwords, but a token that was valid before is never blocked', async () => {
    const own = await startTokenGateway({ config: { authentication: { failures: { limit: 3 } } } });
    const { token } = await own.create();
    expect((await own.ask(`Bearer ${token}`)).status).toBe(200);
    const statuses: number[] = [];
    for (let count = 0; count < 5; count += 1) {
      const wrong = formatToken({ id: 'b'.repeat(16), secret: String(count).repeat(40) });
      statuses.push((await own.ask(`Bearer ${wrong}`)).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect((await own.ask(`Bearer ${token}`)).status).toBe(200);
  });

  it('does not lock out others behind the same address, whose tokens are used for the first time', async () => {
    const own = await startTokenGateway({ config: { authentication: { failures: { limit: 3, limitPerName: 3 } } } });
    const [attacked, other] = [await own.create(), await own.create()];
    const guess = async (id: string, secret: number) =>
      (await own.ask(`Bearer ${formatToken({ id, secret: String(secret).padStart(40, '0') })}`)).status;
    const statuses: number[] = [];
    for (let count = 0; count < 5; count += 1) statuses.push(await guess(attacked.id, count));
    // Guesses at one token are slowed down …
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    // … for this token, not for others, nor for the passwords of the account.
    expect((await own.ask(`Bearer ${other.token}`)).status).toBe(200);
    expect((await own.ask(basic('alice'))).status).toBe(200);
  });

  it('does not lock out the holder of a token at another address, however many guess at it', async () => {
    const own = await startTokenGateway({
      config: {
        listen: { trustedProxies: ['127.0.0.1'] },
        authentication: { failures: { limit: 3, limitPerName: 3 } },
      },
    });
    const { id, token } = await own.create();
    const from = (address: string, text: string) =>
      own.ask(`Bearer ${text}`, QUESTIONS, { headers: { 'X-Forwarded-For': address } });
    for (let count = 0; count < 10; count += 1)
      await from(`192.0.2.${count}`, formatToken({ id, secret: String(count).repeat(40) }));
    expect((await from('198.51.100.1', token)).status).toBe(200);
  });

  it('cannot try any number of ids from one address', async () => {
    const own = await startTokenGateway({ config: { authentication: { failures: { maxPairs: 32 } } } });
    const statuses: number[] = [];
    for (let count = 0; count < 20; count += 1) {
      const wrong = formatToken({ id: count.toString(16).padStart(16, '0'), secret: 'a'.repeat(40) });
      statuses.push((await own.ask(`Bearer ${wrong}`)).status);
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(16);
    expect(statuses.slice(16)).toEqual([429, 429, 429, 429]);
  });

  it('is offered both schemes if there is no credential, without an error code', async () => {
    const reply = await at.gateway.call(QUESTIONS, { user: null });
    expect([reply.status, reply.headers['www-authenticate']]).toEqual([
      401,
      'Bearer realm="Portico", Basic realm="Portico", charset="UTF-8"',
    ]);
  });

  it('never reaches the upstream with it, even if authentication is only reported', async () => {
    const own = await startTokenGateway({
      config: {
        mode: 'staging',
        checks: { authentication: 'report', permissions: 'report' },
        upstream: { credentials: { kind: 'forward' } },
      },
    });
    const { id, token } = await own.create();
    await own.change('/revoke', { id });
    for (const authorization of [
      `Bearer ${token}`,
      basic('alice', token),
      `Bearer ${token.slice(0, -1)}`,
      token,
      `Token ${token}`,
      basic(token, ''),
      basic('', token),
      basic('alice', ` ${token}`),
      basic('alice', token.toUpperCase()),
    ])
      expect([authorization, await own.ask(authorization)]).toMatchObject([
        authorization,
        { status: 200, sent: [undefined] },
      ]);
  });

  it('still logs in with a password', async () => {
    expect((await at.gateway.call(QUESTIONS, { user: 'alice' })).status).toBe(200);
  });
});

describe('in observe mode, tokens', () => {
  it('change nothing for clients, and a warning says so', async () => {
    const at = await startTokenGateway({ config: { mode: 'observe', upstream: { credentials: { kind: 'forward' } } } });
    const { token } = await at.create();
    const { status, sent } = await at.ask(`Bearer ${token}`);
    expect([status, sent]).toEqual([200, [`Bearer ${token}`]]);
    expect(at.gateway.log.join('\n')).toContain('observe mode forwards every credential unchanged');
  });
});

describe('the admin side of tokens', () => {
  let at: TokenGateway;
  beforeAll(async () => {
    at = await startTokenGateway({ config: { auditTrail: { file: ':memory:' } } });
  });

  it('reports all errors in a request at once, each with its field', async () => {
    const { status, json } = await at.change('', {
      for: 'alice',
      scope: ['View the question list', 'Edit users and groups'],
      expiresDays: 400,
      operations: ['listQuestion'],
      networks: ['10.0.0.0/33'],
      note: 'password=hunter2secret',
      colour: 'red',
    });
    expect(status).toBe(400);
    expect(json.faults.map(({ field }) => field).toSorted()).toEqual(
      ['colour', 'expiresDays', 'networks', 'note', 'operations', 'scope', 'scope'].toSorted(),
    );
    expect(json.error).toContain('Did you mean View the questions list?');
    expect(json.error).toContain('Did you mean listQuestions?');
  });

  it('does not create a token for an account that does not exist, or without a scope', async () => {
    expect((await at.change('', { for: 'nobody-here', scope: SCOPE, expiresDays: 1 })).json.faults).toMatchObject([
      { field: 'for' },
    ]);
    expect((await at.change('', { for: 'alice', expiresDays: 1 })).json.faults).toMatchObject([{ field: 'scope' }]);
    expect((await at.change('', { for: 'alice', scope: [], expiresDays: 1 })).status).toBe(400);
  });

  it('refuses changes of those who have not signed in, even on loopback', async () => {
    const open = await startTokenGateway({ env: {} });
    const { status, json } = await open.change('', { for: 'alice', scope: SCOPE, expiresDays: 1 });
    expect([status, json.error]).toEqual([403, expect.stringContaining('only by operators who sign in')]);
    expect((await at.gateway.admin('/tokens')).status).toBe(401);
  });

  it('adds every change to the audit trail, without secrets and without names of callers', async () => {
    const { id, token } = await at.create({ for: 'moderator' });
    const { json: rotated } = await at.change('/rotate', { id });
    await at.change('/revoke', { id });
    const { json, text } = await at.gateway.admin('/audit', { headers: { Authorization: `Bearer ${ADMIN_TOKEN}` } });
    const { entries } = json as unknown as { entries: { action: string; outcome: string; subject: object }[] };
    expect(entries.slice(0, 3)).toMatchObject([
      { action: 'token revoked', outcome: 'done', subject: { token: id } },
      { action: 'token rotated', outcome: 'done', subject: { token: id }, after: { token: rotated.created.id } },
      { action: 'token created', outcome: 'done', subject: { token: id }, after: { scope: SCOPE } },
    ]);
    for (const secret of [token, rotated.token]) expect(text).not.toContain(secret.slice(21, -8));
    expect(text).not.toContain('moderator');
  });

  it('says that the id is enough if somebody sends the whole token', async () => {
    const { token } = await at.create();
    const { status, json } = await at.change('/revoke', { id: token });
    expect([status, json.error]).toEqual([400, 'Give only the id of the token: the 16 characters after ptk_.']);
  });
});

describe('an enrolled password', () => {
  const enrolling = (folder: string, sealing = 'sealing', more: object = {}) =>
    startTokenGateway({ folder, config: { tokens: { sealingKeyFile: keyFile(sealing, folder), ...more } } });
  const READ = ['View the question page', 'View answers in the question page'];

  it('cannot be stored unless there is a key for it', async () => {
    const at = await startTokenGateway();
    const { id } = await at.create();
    const { status, json } = await at.change('/enroll', { id, password: 'own-password' });
    expect([status, json.error]).toEqual([409, expect.stringContaining('tokens.sealingKeyFile is not set')]);
  });

  it('is what the upstream gets where it needs the credential of the caller, and is nowhere in the clear', async () => {
    const folder = tempFolder();
    const at = await enrolling(folder);
    const { id, token } = await at.create({ scope: READ });
    expect((await at.change('/enroll', { id, password: 'own-password' })).json.changed.enrolled).toBe(true);
    const { status, sent } = await at.ask(`Bearer ${token}`, COMMENT);
    expect([status, sent]).toEqual([200, [basic('alice', 'own-password')]]);
    expect((await at.ask(`Bearer ${token}`, `${QUESTIONS}?pageSize=8`)).sent).not.toContain(
      basic('alice', 'own-password'),
    );
    const texts = [readFileSync(at.file, 'utf8'), at.gateway.log.join('\n'), JSON.stringify(await at.list())];
    for (const text of texts) expect(text).not.toContain('own-password');
  });

  it('is deleted with the token, and on request', async () => {
    const at = await enrolling(tempFolder());
    const { id, token } = await at.create({ scope: READ });
    await at.change('/enroll', { id, password: 'own-password' });
    expect(readFileSync(at.file, 'utf8')).toContain('"sealed"');
    await at.change('/unenroll', { id });
    expect(readFileSync(at.file, 'utf8')).not.toContain('"sealed"');
    expect((await at.ask(`Bearer ${token}`, COMMENT)).status).toBe(501);
    await at.change('/enroll', { id, password: 'own-password' });
    await at.change('/revoke', { id });
    expect(readFileSync(at.file, 'utf8')).not.toContain('"sealed"');
  });

  it('is deleted when its token has ended, even if no gateway was running then', async () => {
    const folder = tempFolder();
    const first = await enrolling(folder);
    const { id } = await first.create({ scope: READ });
    await first.change('/enroll', { id, password: 'own-password' });
    await first.gateway.close();
    expect(readFileSync(first.file, 'utf8')).toContain('"sealed"');
    first.clock.advance(90 * 86_400);
    const second = await startTokenGateway({ folder, clock: first.clock });
    await second.gateway.close();
    expect(readFileSync(first.file, 'utf8')).not.toContain('"sealed"');
  });

  it('moves to the token that replaces its own', async () => {
    const at = await enrolling(tempFolder());
    const { id } = await at.create({ scope: READ });
    await at.change('/enroll', { id, password: 'own-password' });
    const { json } = await at.change('/rotate', { id, overlapHours: 0 });
    expect((await at.ask(`Bearer ${json.token}`, COMMENT)).sent).toEqual([basic('alice', 'own-password')]);
  });

  it('is sealed again when the key is replaced, so that the old key can be removed', async () => {
    const folder = tempFolder();
    const first = await enrolling(folder);
    const { id, token } = await first.create({ scope: READ });
    await first.change('/enroll', { id, password: 'own-password' });
    await first.gateway.close();
    const second = await enrolling(folder, 'newer', { previousSealingKeyFile: keyFile('sealing', folder) });
    expect((await second.ask(`Bearer ${token}`, COMMENT)).status).toBe(200);
    await second.gateway.close();
    const third = await enrolling(folder, 'newer');
    expect((await third.ask(`Bearer ${token}`, COMMENT)).sent).toEqual([basic('alice', 'own-password')]);
  });
});

describe('the configuration of tokens', () => {
  it('reports all errors in the keys at once', async () => {
    const folder = tempFolder();
    writeFileSync(`${folder}/short.key`, 'short', { mode: 0o600 });
    const same = keyFile('same', folder);
    const started = startTokenGateway({
      config: {
        tokens: {
          keyFile: `${folder}/short.key`,
          previousKeyFile: `${folder}/none.key`,
          sealingKeyFile: same,
          previousSealingKeyFile: same,
        },
      },
    });
    const { message } = (await started.catch((reason: unknown) => reason)) as Error;
    expect(message).toContain('fewer than 32 characters');
    expect(message).toContain('none.key cannot be read');
    expect(message).toContain('the same key as another file');
    expect(message).not.toContain(keyText('same'));
  });
});
