import { describe, expect, it } from 'vitest';
import { exampleResponse } from '../../builders/example-response.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { startTestGateway } from '../../builders/test-gateway.ts';
import { runInProcess } from '../../cli/run-in-process.ts';

const TOKEN = 'the-admin-token';
const LIST = '/services/v2/idea.json';

async function running() {
  const upstream = await startFakeUpstream(exampleResponse);
  const gateway = await startTestGateway({ upstream, env: { PORTICO_ADMIN_TOKEN: TOKEN } });
  const override = (argv: readonly string[], token = TOKEN) =>
    runInProcess(['override', ...argv, '--admin', gateway.adminUrl], { PORTICO_ADMIN_TOKEN: token });
  return { gateway, override };
}

describe('portico override', () => {
  it('sets, lists and ends overrides of a running gateway', async () => {
    const { gateway, override } = await running();
    expect(await override(['list'])).toEqual({ code: 0, out: '', err: 'No overrides are active.\n' });
    const reason = 'INC-17: too many requests';
    const set = await override(['set', 'listIdeas', 'disable', '--for', '2h', '--reason', reason, '--by', 'alice']);
    expect(set).toEqual({
      code: 0,
      out: expect.stringMatching(
        /^set: listIdeas {2}disable {2}until \S+Z by alice from 127\.0\.0\.1: INC-17: too/,
      ) as string,
      err: '',
    });
    expect((await gateway.call(LIST)).status).toBe(503);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const level = ['set', 'listQuestions', 'responses=report', '--until', until, '--reason', 'INC-18'];
    expect((await override(level)).out).toContain(`listQuestions  responses=report  until ${until} from`);
    const stale = ['set', 'listIdeas', 'force-stale', '--stale', '60', '--for', '30m', '--reason', 'INC-19'];
    expect((await override(stale)).out).toContain('listIdeas  force-stale up to 60 s  until');
    expect((await override(['list'])).out.trimEnd().split('\n')).toHaveLength(3);
    const json = JSON.parse((await override(['list', '--format', 'json'])).out) as {
      version: number;
      kind: string;
      overrides: { setAt: string }[];
    };
    expect([json.version, json.kind]).toEqual([1, 'overrides']);
    const ends = json.overrides.map((one) => one as unknown as { until: string });
    expect(Date.parse(ends[0]?.until ?? '') - Date.parse(json.overrides[0]?.setAt ?? '')).toBe(7_200_000);
    expect((await override(['end', 'listIdeas', 'disable', '--by', 'bob'])).out).toMatch(
      /^ended: listIdeas {2}disable/,
    );
    expect((await gateway.call(LIST)).status).toBe(200);
    expect((await override(['end', 'listIdeas'])).out).toMatch(/^ended: listIdeas {2}force-stale/);
    expect((await override(['list', '--events'])).out).toMatch(/ ended by bob from 127\.0\.0\.1: listIdeas {2}disable/);
  });

  it("prints all of the gateway's reasons if it refuses an override", async () => {
    const { override } = await running();
    const refused = await override(['set', 'listIdea', 'permissions=off', '--for', '8d', '--reason', ' ']);
    expect(refused).toMatchObject({ code: 1, out: '' });
    for (const text of [
      'Did you mean listIdeas?',
      'permissions decides who may see data',
      'at most 168 hours',
      'reason',
    ])
      expect(refused.err).toContain(text);
    expect((await override(['end', 'listIdeas'])).err).toContain('This operation has no such override.');
    expect((await override(['list'], 'a-wrong-token')).err).toContain('incorrect');
  });

  it.each([
    [['change'], 'override change: must be one of list, set, end'],
    [['list', 'listIdeas'], 'unexpected argument "listIdeas"'],
    [['list', '--format', 'csv'], '--format csv: must be one of table, json'],
    [['list', '--reason', 'x'], '--reason cannot be used with override list'],
    [['set', 'listIdeas'], 'override set requires OPERATION and CHANGE (CHECK=LEVEL, force-stale or disable)'],
    [['set', 'listIdeas', 'off', '--for', '1h', '--reason', 'x'], 'CHANGE must be CHECK=LEVEL, force-stale or disable'],
    [['set', 'listIdeas', 'disable', '--for', '1h'], 'override set requires --reason TEXT'],
    [['set', 'listIdeas', 'disable', '--reason', 'x'], 'requires either --for TIME or --until INSTANT'],
    [['set', 'listIdeas', 'disable', '--reason', 'x', '--for', '1 hour'], '--for 1 hour: must be a time such as 30m'],
    [['set', 'listIdeas', 'disable', '--reason', 'x', '--until', '2h'], '--until 2h: must be an instant'],
    [
      ['set', 'a', 'force-stale', '--reason', 'x', '--for', '1h', '--stale', '-1'],
      '--stale must be a number of seconds',
    ],
    [['end'], 'override end requires OPERATION'],
  ])('refuses an incorrect command line: %j', async (argv, message) => {
    const { code, err } = await runInProcess(['override', ...argv, '--admin', 'http://127.0.0.1:9']);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});
