import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadSettings } from '../../src/portico-settings.ts';
import { CHECK_NAMES, type CheckLevel, type CheckName } from '../../src/engine/model/checks.ts';
import type { ClientResponse } from '../builders/call.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { knowing } from '../builders/knowing-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

const QUESTIONS = '/services/v2/question.json';
const COMMENT = '/services/v2/comment/271.json';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
});
beforeEach(() => {
  fake.requests.length = 0;
  fake.handler = exampleResponse;
});

/** The presets for the modes, as shown in README.md. */
const PRESETS: Record<string, Record<CheckName | 'errors' | 'cache', string | boolean>> = {
  observe: {
    authentication: 'report',
    requests: 'report',
    responses: 'report',
    permissions: 'report',
    pageBounds: 'report',
    undocumented: 'report',
    errors: 'legacy',
    cache: false,
  },
  staging: {
    authentication: 'enforce',
    requests: 'enforce',
    responses: 'report',
    permissions: 'enforce',
    pageBounds: 'enforce',
    undocumented: 'report',
    errors: 'normalized',
    cache: true,
  },
  strict: {
    authentication: 'enforce',
    requests: 'enforce',
    responses: 'report',
    permissions: 'enforce',
    pageBounds: 'enforce',
    undocumented: 'enforce',
    errors: 'normalized',
    cache: true,
  },
};

/**
 * For each check, a call that is refused if the check is enforced. For `responses`, the upstream's response violates
 * the contract.
 */
const WRONG: Record<CheckName, (gateway: TestGateway) => Promise<ClientResponse>> = {
  authentication: (gateway) => gateway.call(COMMENT, { user: 'alice', password: 'wrong' }),
  requests: (gateway) => gateway.call(`${QUESTIONS}?colour=blue`),
  responses: (gateway) => {
    fake.handler = knowing(() => ({ json: { ...exampleOf('listIdeas'), listCount: 'many' } }));
    return gateway.call('/services/v2/idea.json');
  },
  permissions: (gateway) => gateway.call('/services/v2/group/7/user.json', { user: 'guest' }),
  pageBounds: (gateway) => gateway.call(`${QUESTIONS}?pageSize=5000`),
  undocumented: (gateway) => gateway.call('/services/v2/space.json'),
};

/** Makes the call in `WRONG` for each check, and returns the checks whose calls are refused. */
async function refusing(gateway: TestGateway): Promise<CheckName[]> {
  const found: CheckName[] = [];
  for (const check of CHECK_NAMES) {
    fake.handler = knowing((request) =>
      request.path.endsWith('space.json') ? { json: [] } : exampleResponse(request),
    );
    if ((await WRONG[check](gateway)).status >= 400) found.push(check);
  }
  return found;
}

const modeOf = (env: Record<string, string>) => loadSettings({ env, cwd: '/' }).mode.name;

describe('rules 1: the presets', () => {
  it.each(Object.entries(PRESETS))('%s has the levels of the table', (mode, row) => {
    const { checks, errors, mode: preset } = loadSettings({ env: { PORTICO_MODE: mode }, cwd: '/' });
    expect({ ...checks, errors, cache: preset.cache }).toEqual(row);
  });

  it.each(Object.entries(PRESETS))('%s refuses exactly what it enforces', async (mode, row) => {
    const gateway = await startTestGateway({ upstream: fake, config: { mode } });
    const enforced = CHECK_NAMES.filter((check) => row[check] === 'enforce');
    // In these modes, Portico only reports a wrong password. The upstream refuses it.
    expect(await refusing(gateway)).toEqual(enforced);
    await gateway.call(COMMENT, { headers: { 'X-Request-Id': `cached-in-${mode}` } });
    const again = await gateway.call('/services/v2/article.json').then(() => gateway.call('/services/v2/article.json'));
    expect(String(again.headers['cache-status']).includes('hit')).toBe(row['cache']);
  });

  it('the levels appear in the metrics', async () => {
    const gateway = await startTestGateway({ upstream: fake, real: true });
    expect(await gateway.metric('portico_enforced_checks')).toBe(0);
    expect(await gateway.metric('portico_mode_info{mode="observe"}')).toBe(1);
    for (const check of CHECK_NAMES)
      expect(await gateway.metric(`portico_enforcement{check="${check}",level="report"}`)).toBe(1);
  });
});

describe('rules 1: the preset', () => {
  it('is `strict` with the embedded upstream and `observe` with a real one', () => {
    expect(modeOf({})).toBe('strict');
    expect(modeOf({ UPSTREAM_URL: 'http://legacy.example/qa' })).toBe('observe');
  });
  it('is chosen by PORTICO_MODE', () => {
    expect(modeOf({ PORTICO_MODE: 'staging' })).toBe('staging');
    expect(modeOf({ PORTICO_MODE: 'strict', UPSTREAM_URL: 'http://legacy.example' })).toBe('strict');
  });
  it('is chosen by mode: in the file', async () => {
    const gateway = await startTestGateway({ upstream: fake, config: { mode: 'staging' } });
    expect(await gateway.metric('portico_mode_info{mode="staging"}')).toBe(1);
  });
});

const startWith = (operations: object) => startTestGateway({ upstream: fake, config: { operations } });

describe('rules 1: each check is off, report or enforce, globally and per operation', () => {
  const levels: CheckLevel[] = ['off', 'report', 'enforce'];

  it.each(levels)('globally %s', async (level) => {
    const checks = Object.fromEntries(CHECK_NAMES.map((check) => [check, level]));
    const gateway = await startTestGateway({ upstream: fake, config: { checks, cache: { enabled: false } } });
    expect(await refusing(gateway)).toEqual(level === 'enforce' ? CHECK_NAMES : []);
    const headers = { 'X-Request-Id': `page-${level}` };
    fake.handler = knowing();
    await gateway.call(`${QUESTIONS}?pageSize=5000`, { headers });
    const line = await gateway.lineOf(`page-${level}`);
    const outcome = { off: undefined, report: 'reported', enforce: 'refused' }[level];
    expect((line['checks'] as Record<string, string> | undefined)?.['pageBounds']).toBe(outcome);
  });

  it('per operation, over the global level and in both directions', async () => {
    const operations = {
      listIdeas: { checks: { requests: 'report' } },
      listArticles: { checks: { requests: 'off' } },
      listNodeComments: { checks: { responses: 'enforce' } },
    };
    const gateway = await startTestGateway({ upstream: fake, config: { operations } });
    const status = async (target: string) => (await gateway.call(target)).status;
    expect(await status('/services/v2/idea.json?colour=blue')).toBe(200);
    expect(await status('/services/v2/article.json?colour=blue')).toBe(200);
    expect(await status(`${QUESTIONS}?colour=blue`)).toBe(400);
    fake.handler = () => ({ json: { list: [] } });
    expect(await status('/services/v2/node/118/comment.json')).toBe(502);
    expect(await status(`${QUESTIONS}?q=x`)).toBe(200);
  });

  it('an operation or check that does not exist is a configuration error', async () => {
    await expect(startWith({ listQuestion: {} })).rejects.toMatchObject({
      faults: [{ suggestion: 'did you mean listQuestions?' }],
    });
    await expect(startWith({ listQuestions: { checks: { request: 'off' } } })).rejects.toMatchObject({
      faults: [{ pointer: '/operations/listQuestions/checks/request' }],
    });
    await expect(startWith({ listQuestions: { checks: { requests: 'warn' } } })).rejects.toMatchObject({
      faults: [{ pointer: '/operations/listQuestions/checks/requests' }],
    });
  });
});

describe('rules 1: refused in every mode', () => {
  it.each(['observe', 'staging', 'strict'])('%s', async (mode) => {
    const gateway = await startTestGateway({ upstream: fake, config: { mode } });
    const status = async (target: string) => (await gateway.call(target)).status;
    const unsafe = [
      '/services/v2/../x',
      '/services/v2/%2e%2e/x',
      '/services/v2/a%2fb',
      '/services/v2/a%5Cb',
      `${QUESTIONS}?q=%00`,
    ];
    for (const target of unsafe) expect([target, await status(target)]).toEqual([target, 400]);
    expect(await status(`${QUESTIONS}?q=${'x'.repeat(8192)}`)).toBe(414);
    expect(fake.requests).toHaveLength(0);
    fake.handler = (_request, response) => void response.socket?.destroy();
    for (const target of [QUESTIONS, COMMENT]) expect([target, await status(target)]).toEqual([target, 502]);
  });
});

describe('rules 1: observe mode changes nothing in a documented operation', () => {
  it('writes no defaults, redacts nothing and stores no page', async () => {
    const gateway = await startTestGateway({ upstream: fake, config: { mode: 'observe' } });
    const body = '{"id":9007199254740993,"visibility":"recipients","recipients":[]}';
    fake.handler = () => ({ body, headers: { 'Content-Type': 'application/json' } });
    const got = await gateway.call(COMMENT, { user: 'guest' });
    expect([got.text, got.headers['portico-redacted']]).toEqual([body, undefined]);
    for (const query of ['', '?page=1', '?page=1']) await gateway.call(QUESTIONS + query);
    expect(fake.requests.slice(1).map(({ target }) => target)).toEqual([
      QUESTIONS,
      `${QUESTIONS}?page=1`,
      `${QUESTIONS}?page=1`,
    ]);
  });
});
