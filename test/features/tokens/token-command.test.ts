import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { exampleResponse } from '../../builders/example-response.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { startTestGateway } from '../../builders/test-gateway.ts';
import { runInProcess } from '../../cli/run-in-process.ts';
import { ADMIN_TOKEN, COMMENT, keyFile, startTokenGateway, type TokenGateway } from './token-gateway.ts';

const CREATE = ['create', '--for', 'alice', '--scope', 'View the questions list', '--expires', '90d'];

describe('portico token', () => {
  let at: TokenGateway;
  beforeAll(async () => {
    at = await startTokenGateway({ config: { tokens: { sealingKeyFile: keyFile('sealing') } } });
  });
  const token = (argv: readonly string[], env: Record<string, string> = {}) =>
    runInProcess(['token', ...argv, '--admin', at.gateway.adminUrl], { PORTICO_ADMIN_TOKEN: ADMIN_TOKEN, ...env });

  it('creates, lists, replaces and revokes tokens of a running gateway', async () => {
    expect(await token(['list'])).toEqual({ code: 0, out: '', err: 'There are no tokens.\n' });
    const created = await token([...CREATE, '--note', 'chat bot', '--networks', '127.0.0.0/8,::1']);
    expect(created.code).toBe(0);
    // Only the token is on standard output, so that a script can store it.
    expect(created.out).toMatch(/^ptk_[0-9a-f]{16}_[0-9a-f]{48}\n$/);
    expect(created.err).toContain('shown only once');
    expect((await at.ask(`Bearer ${created.out.trim()}`)).status).toBe(200);
    const [, id = ''] = /^ptk_([0-9a-f]{16})_/.exec(created.out) ?? [];
    const listed = await token(['list']);
    const [head, row, ...others] = listed.out.split('\n').map((text) => text.split(/ {2,}/));
    expect(head).toEqual(['id', 'for', 'state', 'ends', 'last used', 'scope', 'restrictions', 'note']);
    expect(row).toEqual([
      id,
      'alice',
      'valid',
      expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/) as string,
      expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/) as string,
      'View the questions list',
      'from 127.0.0.0/8, ::1',
      'chat bot',
    ]);
    expect(others).toEqual([['']]);
    const rotated = await token(['rotate', id, '--overlap', '0']);
    expect((await at.ask(`Bearer ${created.out.trim()}`)).status).toBe(401);
    expect((await at.ask(`Bearer ${rotated.out.trim()}`)).status).toBe(200);
    const [, next = ''] = /^ptk_([0-9a-f]{16})_/.exec(rotated.out) ?? [];
    expect((await token(['revoke', next])).out).toMatch(new RegExp(`^revoked: ${next} .*; revoked \\S+Z`));
    expect((await at.ask(`Bearer ${rotated.out.trim()}`)).status).toBe(401);
    expect(await token(['list'])).toMatchObject({
      out: '',
      err: expect.stringContaining('--all shows those') as string,
    });
    const all = JSON.parse((await token(['list', '--all', '--format', 'json'])).out) as {
      kind: string;
      tokens: { id: string; state: string }[];
    };
    expect(all.kind).toBe('tokens');
    expect(new Map(all.tokens.map(({ id: one, state }) => [one, state]))).toEqual(
      new Map([
        [id, 'ended'],
        [next, 'revoked'],
      ]),
    );
  });

  it('ends a token on a day, or after any of the periods', async () => {
    const endOf = async (expires: string) => {
      const { out } = await token([...CREATE.slice(0, -1), expires, '--format', 'json']);
      return (JSON.parse(out) as { created: { ends: string } }).created.ends;
    };
    const day = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10);
    const days = async (expires: string) => (Date.parse(await endOf(expires)) - at.clock()) / 86_400_000;
    expect([await days('36h'), await days('2w'), await days('30m')]).toEqual([1.5, 14, 30 / 1440]);
    // The command knows only the clock of its own machine.
    expect(await days(day)).toBeCloseTo((Date.parse(day) - Date.now()) / 86_400_000, 2);
  });

  it('prints a new token as JSON', async () => {
    const { out } = await token([...CREATE, '--format', 'json']);
    expect(JSON.parse(out)).toMatchObject({ kind: 'token', token: expect.stringMatching(/^ptk_/) as string });
  });

  it('enrolls a password from a file or the environment, and removes it', async () => {
    const scope = ['--scope', 'View the question page', '--scope', 'View answers in the question page'];
    const { out } = await token(['create', '--for', 'alice', '--expires', '1d', ...scope]);
    const [, id = ''] = /^ptk_([0-9a-f]{16})_/.exec(out) ?? [];
    const file = join(tempFolder(), 'password');
    writeFileSync(file, 'own-password\n', { mode: 0o600 });
    expect((await token(['enroll', id, '--password-file', file])).out).toContain('password enrolled');
    expect((await at.ask(`Bearer ${out.trim()}`, COMMENT)).status).toBe(200);
    expect((await token(['unenroll', id])).out).not.toContain('password enrolled');
    expect((await token(['enroll', id], { PORTICO_PASSWORD: 'other-password' })).code).toBe(0);
    const wrong = await token(['enroll', id], { PORTICO_PASSWORD: 'wrong-password' });
    expect([wrong.code, wrong.out, wrong.err]).toEqual([
      1,
      '',
      expect.stringContaining('The upstream does not accept this password'),
    ]);
    const none = await token(['enroll', id]);
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('--password-file or PORTICO_PASSWORD')]);
  });

  it("prints all of the gateway's reasons if it refuses a token", async () => {
    const refused = await token(['create', '--for', 'alice', '--scope', 'Edit users', '--expires', '3650d']);
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('--scope: The account does not have "Edit users"');
    expect(refused.err).toContain('--expires: A token must end, at the latest after 365 days (tokens.maxDays).');
    expect((await token(['revoke', 'f'.repeat(16)])).err).toContain('There is no token with this id.');
  });

  it('says what to set if it has no admin token', async () => {
    const { code, err } = await token(['list'], { PORTICO_ADMIN_TOKEN: '' });
    expect([code, err]).toEqual([1, expect.stringContaining('Set PORTICO_ADMIN_TOKEN as for the gateway.')]);
    const wrong = await token(['list'], { PORTICO_ADMIN_TOKEN: 'another-admin-token' });
    expect(wrong.err).toContain('The admin token is incorrect.');
    expect(wrong.err).not.toContain('PORTICO_ADMIN_TOKEN');
  });

  it('says what is missing if the gateway has no tokens', async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    const without = await startTestGateway({ upstream, env: { PORTICO_ADMIN_TOKEN: ADMIN_TOKEN } });
    const { code, err } = await runInProcess(['token', 'list', '--admin', without.adminUrl], {
      PORTICO_ADMIN_TOKEN: ADMIN_TOKEN,
    });
    expect([code, err]).toEqual([1, expect.stringContaining('set tokens.keyFile')]);
  });

  it.each([
    [['change'], 'token change: must be one of create, list, revoke, rotate, enroll, unenroll'],
    [['create', '--for', 'alice', '--scope', 'x'], 'token create requires --expires'],
    [['create', '--for', 'alice', '--expires', '1d'], 'token create requires --scope'],
    [['create', '--scope', 'x', '--expires', '1d'], 'token create requires --for'],
    [
      ['create', '--for', 'alice', '--scope', 'x', '--expires', 'soon'],
      '--expires soon: must be a time such as 12h or 90d, or a day such as 2027-01-31',
    ],
    [['create', '--for', 'alice', '--scope', 'x', '--expires', '0d'], '--expires 0d: must be a time'],
    [['create', '--for', 'alice', '--scope', 'x', '--expires', '90'], '--expires 90: must be a time'],
    [['create', '--for', 'alice', '--scope', 'x', '--expires', '-1d'], '--expires -1d: must be a time'],
    [['create', '--for', 'alice', '--scope', 'x', '--expires', '2027-02-30'], '--expires 2027-02-30: must be a time'],
    [['create', '--for', 'alice', '--scope', 'x', '--expires', '2020-01-31'], '--expires 2020-01-31: has passed'],
    [['rotate', 'f'.repeat(16), '--overlap', '-1h'], '--overlap -1h: must be a time such as 12h or 90d'],
    [['rotate', 'f'.repeat(16), '--for', 'bob'], '--for cannot be used with token rotate'],
    [['list', '--note', 'x'], '--note cannot be used with token list'],
    [['list', '--format', 'csv'], '--format csv: must be one of table, json'],
    [['revoke'], 'token revoke requires the ID of a token'],
    [['list', 'ptk_secret'], 'unexpected argument "ptk_…"'],
  ])('refuses an incorrect command line: %j', async (argv, message) => {
    const { code, err } = await runInProcess(['token', ...argv, '--admin', 'http://127.0.0.1:9']);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});
