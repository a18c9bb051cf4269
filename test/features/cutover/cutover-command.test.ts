import { describe, expect, it } from 'vitest';
import { exampleResponse } from '../../builders/example-response.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { knowing } from '../../builders/knowing-upstream.ts';
import { startTestGateway } from '../../builders/test-gateway.ts';
import { eventually } from '../../builders/until.ts';
import { runInProcess } from '../../cli/run-in-process.ts';

const TOKEN = 'the-admin-token';

async function running(isOn = true) {
  const [upstream, fresh] = await Promise.all([
    startFakeUpstream(knowing(exampleResponse)),
    startFakeUpstream(knowing(exampleResponse)),
  ]);
  const cutover = { url: fresh.url, file: ':memory:', operations: { '*': { share: 0 } }, allow: ['ann'] };
  const gateway = await startTestGateway({
    upstream,
    real: true,
    env: { PORTICO_ADMIN_TOKEN: TOKEN },
    config: { mode: 'strict', ...(isOn && { cutover }) },
  });
  const command = (...argv: readonly string[]) =>
    runInProcess(['cutover', ...argv, '--admin', gateway.adminUrl], { PORTICO_ADMIN_TOKEN: TOKEN });
  return { gateway, command };
}

describe('portico cutover', () => {
  it('shows the shares and both servers, also as JSON', async () => {
    const { gateway, command } = await running();
    await gateway.call('/services/v2/question.json', { user: 'ann', password: 'ann' });
    await eventually(async () => /^listQuestions +0% +0 +0 +1 +0 +0 +0 +\d+$/m.test((await command()).out));
    const json = JSON.parse((await command('status', '--format', 'json')).out) as object;
    expect(json).toMatchObject({ version: 1, kind: 'cutover', phase: 'running' });
  });

  it('sets a share, freezes, returns and resumes, in somebody’s name', async () => {
    const { command } = await running();
    expect((await command('set', '*', '5', '--by', 'ann')).out).toMatch(
      /^running \(\* 5%\) since .*, by ann: \* set to 5%$/m,
    );
    expect((await command('freeze', '--by', 'ann')).out).toMatch(/^frozen \(\* 5%\)/);
    expect(await command('set', '*', '50', '--by', 'ann')).toMatchObject({
      code: 1,
      err: expect.stringContaining('share: The cut-over is frozen: resume it') as string,
    });
    expect((await command()).out).toContain('portico cutover resume --by NAME ends this.');
    expect((await command('return', '--reason', 'INC-17')).out).toMatch(/^returned .*: INC-17$/m);
    expect((await command('resume', '--by', 'ann')).out).toMatch(/^running \(\* 5%\)/);
    expect((await command()).out).not.toContain('ends this');
  });

  it('says that there is no cut-over if it is off', async () => {
    const { command } = await running(false);
    expect(await command()).toMatchObject({ code: 1, err: expect.stringContaining('set cutover') as string });
  });

  it.each([
    [['change'], 'must be one of status, set, freeze, return, resume'],
    [['set', '*'], 'requires OPERATION and SHARE'],
    [['set', '*', '101'], 'SHARE must be a percentage'],
    [['set', '*', 'many'], 'SHARE must be a percentage'],
    [['freeze', 'now'], 'unexpected argument "now"'],
    [['status', '--by', 'ann'], '--by cannot be used with cutover status'],
  ])('explains a wrong command line: %j', async (argv, message) => {
    const { code, err } = await runInProcess(['cutover', ...argv]);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});
