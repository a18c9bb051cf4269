import { beforeAll, describe, expect, it } from 'vitest';
import { hashPassword } from '../../src/engine/identity/password-hash.ts';
import { readSettings } from '../../src/portico-settings.ts';
import { basic } from '../builders/call.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { fastHash } from '../builders/fast-roles.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

const TOKEN = 'a-long-enough-admin-token';
const PASSWORD = 'correct horse battery';

let operators: { name: string; passwordHash: string }[];
beforeAll(async () => {
  operators = [{ name: 'ada', passwordHash: await fastHash(PASSWORD) }];
});

async function gatewayWith(env: Record<string, string> = {}): Promise<TestGateway> {
  const upstream = await startFakeUpstream(exampleResponse);
  return startTestGateway({ upstream, clock: createTestClock(), env, config: { operators } });
}

const as = (name: string, password: string, more: Record<string, string> = {}) => ({
  headers: { Authorization: basic(name, password), ...more },
});
const purge = (headers: Record<string, string>) => ({ method: 'POST', body: { all: true }, headers });

describe('an operator with a password', () => {
  it('uses the admin side, and the audit trail has the name', async () => {
    const gateway = await gatewayWith();
    const ada = { Authorization: basic('ada', PASSWORD), 'Sec-Fetch-Site': 'same-origin' };
    expect((await gateway.admin('/cache/purge', purge(ada))).status).toBe(200);
    expect((await gateway.admin('/console/api/cache/purge', purge(ada))).status).toBe(200);
    const { json } = await gateway.admin('/audit', { headers: ada });
    const { entries } = json as unknown as { entries: object[] };
    expect(entries.at(-1)).toMatchObject({ action: 'sign in', outcome: 'done', actor: 'operator', by: 'ada' });
    expect(entries.at(-2)).toMatchObject({ action: 'purge', outcome: 'done', actor: 'operator', by: 'ada' });
    expect(JSON.stringify(entries)).not.toContain(PASSWORD);
  });

  it('may make changes on the console, which needs no token then', async () => {
    const gateway = await gatewayWith();
    const { json } = await gateway.admin('/console/api/status', as('ada', PASSWORD));
    expect(json).toMatchObject({ writable: true });
  });

  it('is refused with a wrong name or password, as a page for browsers and as JSON for others', async () => {
    const gateway = await gatewayWith();
    for (const [name, password] of [
      ['ada', 'wrong'],
      ['bob', PASSWORD],
      ['ada', ''],
      ['', PASSWORD],
    ] as const) {
      const refused = await gateway.admin('/audit', as(name, password));
      expect([refused.status, refused.json]).toEqual([
        401,
        { error: 'The name, the password or the admin token is incorrect.' },
      ]);
      expect(refused.headers['www-authenticate']).toContain('Basic realm=');
    }
    const page = await gateway.admin('/console/', as('ada', 'wrong', { Accept: 'text/html' }));
    expect([page.status, page.headers['content-type']]).toEqual([401, 'text/html; charset=utf-8']);
    expect(page.text).toContain('Access denied');
    const { json } = await gateway.admin('/audit', as('ada', PASSWORD));
    const { entries } = json as unknown as { entries: object[] };
    expect(entries).toContainEqual(
      expect.objectContaining({ action: 'sign in', outcome: 'refused', actor: 'unknown' }),
    );
  });

  it('is challenged without a credential, also on loopback', async () => {
    const gateway = await gatewayWith();
    const { status, json } = await gateway.admin('/audit');
    expect([status, json]).toEqual([401, { error: 'A name and a password are required.' }]);
    // Health checks and metrics stay open.
    expect((await gateway.admin('/readyz')).status).toBe(200);
  });

  it('must wait after too many wrong passwords from one address', async () => {
    const gateway = await gatewayWith();
    const guesses = Array.from({ length: 20 }, (_, index) => gateway.admin('/audit', as('ada', `guess-${index}`)));
    for (const guess of guesses) expect((await guess).status).toBe(401);
    const { status, headers } = await gateway.admin('/audit', as('ada', PASSWORD));
    expect([status, Number(headers['retry-after']) > 0]).toEqual([429, true]);
  });

  it('does not replace the admin token', async () => {
    const gateway = await gatewayWith({ PORTICO_ADMIN_TOKEN: TOKEN });
    const bearer = { headers: { Authorization: `Bearer ${TOKEN}` } };
    const [byToken, byPassword, wrong] = [
      await gateway.admin('/audit', bearer),
      await gateway.admin('/audit', as('ada', PASSWORD)),
      await gateway.admin('/audit', { headers: { Authorization: `Bearer ${PASSWORD}` } }),
    ];
    expect([byToken.status, byPassword.status, wrong.status]).toEqual([200, 200, 401]);
  });

  it('appears nowhere with the hash of the password', async () => {
    const gateway = await gatewayWith();
    const { text } = await gateway.admin('/console/api/configuration', as('ada', PASSWORD));
    expect(text).toContain('"operators"');
    expect(text).not.toContain('argon2id');
    expect(gateway.log.join('')).not.toContain('argon2id');
  });
});

describe('the configuration of operators', () => {
  const faultsOf = async (given: Readonly<Record<string, string | undefined>>) => {
    const passwordHash = await hashPassword('x', { memory: 8, passes: 1, parallelism: 1 });
    const listed = Object.entries(given).map(([name, hash]) => ({ name, passwordHash: hash ?? passwordHash }));
    return readSettings({ env: {}, cwd: tempFolder(), given: { operators: listed } }).faults;
  };

  it('needs argon2id hashes', async () => {
    expect(await faultsOf({ ada: 'plain text' })).toMatchObject([
      { pointer: '/operators/0/passwordHash', suggestion: 'create one with: portico hash-password' },
    ]);
    expect(await faultsOf({ ada: undefined })).toEqual([]);
  });

  it('makes the token optional off loopback', async () => {
    const given = { listen: { adminHost: '0.0.0.0' }, upstream: { url: 'http://127.0.0.1:9' } };
    const pointers = (more: object) =>
      readSettings({ env: {}, cwd: tempFolder(), given: { ...given, ...more } }).faults.map(({ pointer }) => pointer);
    expect(pointers({})).toContain('/adminToken');
    expect(pointers({ operators })).not.toContain('/adminToken');
  });
});
