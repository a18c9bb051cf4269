import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { basic, type Call } from '../../builders/call.ts';
import { expectError } from '../../builders/expect-error.ts';
import { PROBE } from '../../builders/knowing-upstream.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { ADMIN_TOKEN, COMMENT, keyFile, QUESTIONS, startTokenGateway, type TokenGateway } from './token-gateway.ts';

const PATH = '/services/v2/tokens/password';
const READ = ['View the question page', 'View answers in the question page'];

const start = (config: object = {}) => {
  const folder = tempFolder();
  const { tokens, ...more } = config as { readonly tokens?: object };
  return startTokenGateway({
    folder,
    config: {
      tokens: { sealingKeyFile: keyFile('sealing', folder), ...tokens },
      auditTrail: { file: ':memory:' },
      logging: { level: 'trace' },
      ...more,
    },
  });
};
const send = (at: TokenGateway, token: string, method: string, more: Call = {}) =>
  at.ask(`Bearer ${token}`, PATH, { method, ...more });
const put = (at: TokenGateway, token: string, password: unknown, more: object = {}) =>
  send(at, token, 'PUT', { body: { password, ...more } });

describe('the holder of a token', () => {
  let at: TokenGateway;
  beforeAll(async () => {
    at = await start();
  });

  it('enrolls the password of the account, which the upstream then gets where it needs the caller', async () => {
    const { id, token } = await at.create({ scope: READ });
    expect((await at.ask(`Bearer ${token}`, COMMENT)).status).toBe(501);
    const { status, reply } = await put(at, token, 'own-password');
    expect([status, reply.json]).toEqual([
      200,
      { token: id, for: 'alice', ends: expect.any(String) as string, enrolled: true, stored: true },
    ]);
    expect(reply.headers['cache-control']).toBe('private, no-store');
    const asked = await at.ask(`Bearer ${token}`, COMMENT);
    expect([asked.status, asked.sent]).toEqual([200, [basic('alice', 'own-password')]]);
    expect((await send(at, token, 'GET')).reply.json).toMatchObject({ token: id, enrolled: true });
    expect((await send(at, token, 'DELETE')).reply.json).toMatchObject({ enrolled: false, stored: true });
    expect((await send(at, token, 'GET')).reply.json).toMatchObject({ enrolled: false });
    expect((await at.ask(`Bearer ${token}`, COMMENT)).status).toBe(501);
    expect(readFileSync(at.file, 'utf8')).not.toContain('"sealed"');
  });

  it('may send the token as the password of Basic, too', async () => {
    const { token } = await at.create({ scope: READ });
    const { status } = await at.ask(basic('alice', token), PATH, {
      method: 'PUT',
      body: { password: 'own-password' },
    });
    expect(status).toBe(200);
  });

  it('enrolls nothing that the upstream refuses', async () => {
    const { token } = await at.create({ scope: READ });
    const { reply, sent } = await put(at, token, 'wrong-password');
    expectError(reply, 403, 'password_refused');
    // Only the question whether it is right.
    expect(sent).toContain(basic('alice', 'wrong-password'));
    expect((await send(at, token, 'GET')).reply.json).toMatchObject({ enrolled: false });
    expect((await at.ask(`Bearer ${token}`, COMMENT)).status).toBe(501);
  });

  it('appears in the audit trail as a caller, without a name, and no output has the password', async () => {
    const { id, token } = await at.create({ scope: READ });
    await put(at, token, 'own-password');
    await put(at, token, 'wrong-password');
    await send(at, token, 'DELETE');
    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
    const { json, text } = await at.gateway.admin('/audit', { headers });
    const { entries } = json as unknown as { entries: { action: string; actor: string; subject?: object }[] };
    expect(entries.filter(({ actor }) => actor === 'caller').slice(0, 2)).toMatchObject([
      { action: 'token password removed', outcome: 'done', subject: { token: id } },
      { action: 'token password enrolled', outcome: 'done', subject: { token: id } },
    ]);
    const pages = ['/tokens', '/metrics', '/console/api/violations', '/console/api/traffic'];
    const outputs = await Promise.all(pages.map(async (page) => (await at.gateway.admin(page, { headers })).text));
    const records = JSON.stringify(await at.gateway.gateway.services.records.snapshot());
    for (const output of [text, ...outputs, records, readFileSync(at.file, 'utf8'), at.gateway.log.join('\n')])
      for (const secret of ['own-password', 'wrong-password', btoa('alice:own-password'), token.slice(21, -8)])
        expect(output).not.toContain(secret);
  });

  it('learns what is wrong with a request, which never echoes the body', async () => {
    const { token } = await at.create({ scope: READ });
    const wrong: readonly (readonly [Call, number, string])[] = [
      [{ body: {} }, 400, 'invalid_body'],
      [{ body: { password: '' } }, 400, 'invalid_body'],
      [{ body: { password: 'hunter2\n' } }, 400, 'invalid_body'],
      [{ body: { password: 5 } }, 400, 'invalid_body'],
      [{ body: { password: token } }, 400, 'invalid_body'],
      [{ body: { password: 'hunter2', name: 'bob' } }, 400, 'invalid_body'],
      [{ body: '["hunter2"]' }, 400, 'invalid_body'],
      [{ body: 'hunter2' }, 400, 'invalid_body'],
      [{}, 400, 'invalid_body'],
      [{ body: { password: 'hunter2'.repeat(2_000) } }, 413, 'body_too_large'],
    ];
    for (const [call, status, code] of wrong) {
      const { reply, sent } = await send(at, token, 'PUT', call);
      expectError(reply, status, code);
      expect(reply.text).not.toContain('hunter2');
      expect(sent).toEqual([]);
    }
    const { reply } = await send(at, token, 'POST', { body: { password: 'own-password' } });
    expectError(reply, 405, 'method_not_allowed');
    expect(reply.headers.allow).toBe('GET, PUT, DELETE');
  });

  it('is needed: nobody else can enroll anything', async () => {
    const { id, token } = await at.create({ scope: READ });
    const body = { password: 'own-password' };
    const none = await at.gateway.call(PATH, { user: null, method: 'PUT', body });
    expectError(none, 401, 'credentials_required');
    const wrong = await put(at, `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`, 'own-password');
    expectError(wrong.reply, 401, 'credentials_refused');
    const password = await at.gateway.call(PATH, { user: 'alice', method: 'PUT', body });
    expectError(password, 403, 'token_not_allowed');
    await at.change('/revoke', { id });
    expectError((await put(at, token, 'own-password')).reply, 401, 'credentials_refused');
    expect(wrong.sent).toEqual([]);
  });

  it('cannot enroll anything from an address from which the token is not accepted', async () => {
    const { token } = await at.create({ scope: READ, networks: ['192.0.2.0/24'] });
    const { reply, sent } = await put(at, token, 'own-password');
    expectError(reply, 403, 'token_not_allowed');
    expect(sent).toEqual([]);
  });

  it('cannot use it to guess passwords faster than anybody else', async () => {
    const own = await start({ authentication: { failures: { limit: 3 } } });
    const { token } = await own.create({ scope: READ });
    const statuses: number[] = [];
    for (let count = 0; count < 5; count += 1) statuses.push((await put(own, token, `guess-${count}`)).status);
    expect(statuses).toEqual([403, 403, 403, 429, 429]);
    const probes = own.upstream.requests.filter(({ path, user }) => path === PROBE && user === 'alice');
    expect(probes).toHaveLength(3);
    // The token itself is still accepted.
    expect((await send(own, token, 'GET')).status).toBe(200);
  });

  it('cannot fill the audit trail with changes', async () => {
    const own = await start();
    const { token } = await own.create({ scope: READ });
    const statuses: number[] = [];
    for (let count = 0; count < 11; count += 1) {
      statuses.push((await put(own, token, 'own-password')).status, (await send(own, token, 'DELETE')).status);
      own.clock.advance(1);
    }
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 429, 200]);
    const { reply } = await put(own, token, 'own-password');
    expectError(reply, 429, 'too_many_attempts');
    // Nothing is enrolled, so there was nothing to delete, or to tell about.
    const { json } = await own.gateway.admin('/audit', { headers: { Authorization: `Bearer ${ADMIN_TOKEN}` } });
    const { entries } = json as unknown as { entries: { actor: string }[] };
    expect(entries.filter(({ actor }) => actor === 'caller')).toHaveLength(20);
    own.clock.advance(3_600);
    expect((await put(own, token, 'own-password')).status).toBe(200);
  });

  it('gets a 503 while the upstream cannot tell, and no password is stored', async () => {
    const own = await start();
    const { token } = await own.create({ scope: READ });
    await own.upstream.close();
    const { reply } = await put(own, token, 'own-password');
    expectError(reply, 503, 'verification_unavailable');
    expect((await send(own, token, 'GET')).reply.json).toMatchObject({ enrolled: false });
  });

  it('cannot log in with a password because it was enrolled', async () => {
    const { token } = await at.create({ scope: READ });
    expect((await put(at, token, 'own-password')).status).toBe(200);
    // The roles file has another one.
    expect((await at.ask(basic('alice', 'own-password'))).status).toBe(401);
  });
});

describe('the path of the password', () => {
  it('does not exist without a key for passwords, or in observe mode', async () => {
    const at = await startTokenGateway();
    const { token } = await at.create();
    expectError((await put(at, token, 'own-password')).reply, 404, 'not_in_contract');
    const observing = await start({ mode: 'observe', upstream: { credentials: { kind: 'forward' } } });
    const other = await observing.create();
    expect((await put(observing, other.token, 'own-password')).sent).toEqual([`Bearer ${other.token}`]);
  });

  it('may be used by pages of an allowed origin', async () => {
    const origin = 'https://pages.example';
    const at = await start({ cors: { origins: [origin] } });
    const { headers, status } = await at.gateway.call(PATH, {
      user: null,
      method: 'OPTIONS',
      headers: { Origin: origin, 'Access-Control-Request-Method': 'PUT' },
    });
    expect([status, headers['access-control-allow-methods']]).toEqual([204, expect.stringContaining('PUT')]);
    expect((await at.gateway.call(QUESTIONS, { user: 'alice' })).status).toBe(200);
  });
});

describe('an operator who enrolls a password', () => {
  it('is told if the upstream refuses it', async () => {
    const at = await start();
    const { id } = await at.create({ scope: READ });
    const { status, json } = await at.change('/enroll', { id, password: 'wrong-password' });
    expect([status, json.error]).toEqual([400, expect.stringContaining('The upstream does not accept this password')]);
    expect((await at.list())[0]?.enrolled).toBe(false);
    await at.upstream.close();
    const later = await at.change('/enroll', { id, password: 'own-password' });
    expect([later.status, later.json.error]).toEqual([503, expect.stringContaining('cannot be verified now')]);
  });

  it('cannot do it in observe mode, in which nobody asks the upstream', async () => {
    const at = await start({ mode: 'observe', upstream: { credentials: { kind: 'forward' } } });
    const { id } = await at.create();
    const { status, json } = await at.change('/enroll', { id, password: 'own-password' });
    expect([status, json.error]).toEqual([409, expect.stringContaining('in observe mode')]);
    expect(at.upstream.requests.filter(({ path }) => path === PROBE)).toEqual([]);
  });
});
