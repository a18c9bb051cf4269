import { describe, expect, it } from 'vitest';
import { exampleResponse } from '../../builders/example-response.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { startTestGateway } from '../../builders/test-gateway.ts';
import { runInProcess } from '../../cli/run-in-process.ts';

const TOKEN = 'the-admin-token';
const IDEAS = '/services/v2/idea.json';

async function running(config: object) {
  const upstream = await startFakeUpstream(exampleResponse);
  const gateway = await startTestGateway({ upstream, env: { PORTICO_ADMIN_TOKEN: TOKEN }, config: { ...config } });
  const command = (...argv: readonly string[]) =>
    runInProcess(['deprecation', ...argv, '--admin', gateway.adminUrl], { PORTICO_ADMIN_TOKEN: TOKEN });
  return { gateway, command };
}

const withEntry = (brownouts: readonly object[] = []) => ({
  deprecation: {
    file: ':memory:',
    entries: [{ operations: ['listIdeas'], since: '2020-01-01', sunset: '2999-01-01', brownouts }],
  },
});

describe('portico deprecation', () => {
  it('lists what is deprecated, its brown-outs and who uses it, also as JSON', async () => {
    const { gateway, command } = await running(withEntry([{ from: '2998-01-01', to: '2998-01-02' }]));
    const { headers } = await gateway.call(IDEAS, { user: 'alice' });
    await gateway.lineOf(String(headers['x-request-id']));
    const [tag = ''] = (await command('caller', 'alice')).out.split(',');
    const { code, out, err } = await command();
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(
      'listIdeas: deprecated, since 2020-01-01T00:00:00Z, sunset 2999-01-01T00:00:00Z; 1 request of 1 caller',
    );
    expect(out).toMatch(/^ {2}brown-out [0-9a-f]{10} {2}2998-01-01T00:00:00Z to 2998-01-02T00:00:00Z {2}scheduled$/m);
    expect(out).toMatch(new RegExp(`^listIdeas +operation +${tag} +1 +\\d{4}-`, 'm'));
    const json = JSON.parse((await command('list', '--format', 'json')).out) as object;
    expect(json).toMatchObject({ version: 1, kind: 'deprecation', rows: [{ operation: 'listIdeas', caller: tag }] });
    expect((await command('list', '--operation', 'listQuestions')).err).toBe('No usage has been counted.\n');
  });

  it('revokes and restores a brown-out', async () => {
    const { gateway, command } = await running(withEntry([{ from: '2020-01-01', to: '2998-01-02' }]));
    expect((await gateway.call(IDEAS)).status).toBe(503);
    const [id = ''] = /(?<=brown-out )[0-9a-f]{10}/.exec((await command()).out) ?? [];
    const revoked = await command('revoke', id, '--reason', 'INC-17', '--by', 'ann');
    expect(revoked.out).toMatch(/^revoked: [0-9a-f]{10} .* revoked \(INC-17, ann\)$/m);
    expect((await gateway.call(IDEAS)).status).toBe(200);
    expect((await command('restore', id, '--reason', 'over')).out).toContain('in progress (over)');
    expect((await gateway.call(IDEAS)).status).toBe(503);
    const refused = await command('revoke', 'other', '--reason', ' ');
    expect([refused.code, refused.err.match(/\b(?:brownout|reason): /g)]).toEqual([1, ['brownout: ', 'reason: ']]);
  });

  it('says that nothing is counted if the feature is off', async () => {
    const { command } = await running({});
    expect(await command()).toMatchObject({ code: 1, err: expect.stringContaining('set deprecation') as string });
  });

  it.each([
    [['change'], 'must be one of list, revoke, restore, caller'],
    [['revoke'], 'requires ID'],
    [['revoke', 'b1'], 'requires --reason'],
    [['caller'], 'requires NAME'],
    [['list', 'b1'], 'unexpected argument "b1"'],
    [['caller', 'alice', '--reason', 'x'], '--reason cannot be used with deprecation caller'],
  ])('explains a wrong command line: %j', async (argv, message) => {
    const { code, err } = await runInProcess(['deprecation', ...argv]);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});
