import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { writeLevelsFile } from '../../../src/features/levels/levels-file.ts';
import { levelsIn } from '../../builders/levels-in.ts';
import { callAt } from '../../builders/call.ts';
import { exampleResponse } from '../../builders/example-response.ts';
import { type FakeResponse, type FakeUpstream, startFakeUpstream } from '../../builders/fake-upstream.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { startRedisServer } from '../../builders/redis-server.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../../builders/test-gateway.ts';
import { until } from '../../builders/until.ts';
import { decisionWith } from './entries.ts';

const LIST = '/services/v2/idea.json';
const IDEAS = { operations: { listIdeas: { checks: { responses: 'enforce' } } } };
const DEMOTE = { share: 0.5, windowSeconds: 60, minAnswers: 4 };

const folder = mkdtempSync(join(tmpdir(), 'portico-ladder-'));
afterAll(() => rmSync(folder, { recursive: true }));

let number = 0;
let file: string;
let fake: FakeUpstream;
let drift: FakeResponse | undefined;
beforeEach(async () => {
  number += 1;
  file = join(folder, String(number), 'kept', 'levels.json');
  drift = undefined;
  fake = await startFakeUpstream((request) => drift ?? exampleResponse(request));
});

const start = (more: object = {}, clock = createTestClock()): Promise<TestGateway> =>
  startTestGateway({
    upstream: fake,
    clock,
    config: { ...IDEAS, cache: { enabled: false }, levels: { file, demote: DEMOTE }, ...more },
  });

const DRIFT: FakeResponse = { json: { list: [], listCount: 'none' } };

async function statuses(gateway: TestGateway, count: number, target = LIST): Promise<number[]> {
  const seen: number[] = [];
  for (let index = 0; index < count; index += 1) seen.push((await gateway.call(target)).status);
  return seen;
}

const kept = () => JSON.parse(readFileSync(file, 'utf8')) as { entries: { operation: string; move: string }[] };

describe('enforced responses that begin to drift', () => {
  it("are refused up to the window's share, then forwarded until an operator lifts the demotion", async () => {
    const gateway = await start();
    expect(await statuses(gateway, 3)).toEqual([200, 200, 200]);
    drift = DRIFT;
    expect(await statuses(gateway, 5)).toEqual([502, 502, 502, 502, 200]);
    const passed = await gateway.call(LIST);
    expect(passed.text).toBe(JSON.stringify(DRIFT.json));
    expect(passed.headers['contract-status']).toMatch(/violations/);
    expect(levelsIn(gateway.gateway).store.decisions()).toMatchObject([
      { operation: 'listIdeas', check: 'responses', move: 'demoted', judged: 7, failed: 4, windowSeconds: 60 },
    ]);
    expect(await gateway.metric('portico_operation_enforcement{operation="listIdeas",check="responses"}')).toBe(1);
    expect(await gateway.metric('portico_ladder_demotions_total{operation="listIdeas"}')).toBe(1);
    const demoted = 'portico_ladder_demoted{operation="listIdeas"}';
    expect(await gateway.metric(demoted)).toBe(1);
    expect(await gateway.metric('portico_ladder_demoted{operation="listQuestions"}')).toBe(0);
    const alerts = gateway.log.filter((line) => line.includes('"level":"error"') && line.includes('"ladder"'));
    expect(alerts).toHaveLength(1);
    await gateway.close();
    expect(kept().entries).toMatchObject([{ operation: 'listIdeas', move: 'demoted' }]);
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const second = await start();
    expect(await statuses(second, 1)).toEqual([200]);
    expect(second.log.some((line) => line.includes('a promotion or demotion is in effect'))).toBe(true);
    expect(await second.metric(demoted)).toBe(1);
    expect(levelsIn(second.gateway).ladder.lift('listIdeas', 'responses')).toBeDefined();
    expect(await second.metric(demoted)).toBe(0);
    expect(await statuses(second, 1)).toEqual([502]);
    await second.close();
    expect(kept().entries).toEqual([]);
    const third = await start();
    expect(await statuses(third, 1)).toEqual([502]);
  });

  it('are enforced again under a new contract', async () => {
    const first = await start();
    drift = DRIFT;
    await statuses(first, 4);
    await first.close();
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/"contract": "[^"]+"/g, '"contract": "an earlier one"'));
    const second = await start();
    expect(await statuses(second, 1)).toEqual([502]);
    expect(second.log.some((line) => line.includes('the contract has changed'))).toBe(true);
  });

  it('remain refused if demotion is switched off', async () => {
    const gateway = await start({ levels: { file, demote: { ...DEMOTE, enabled: false } } });
    drift = DRIFT;
    expect(new Set(await statuses(gateway, 8))).toEqual(new Set([502]));
  });

  it('remain refused while they are too few for both the window and a day', async () => {
    const clock = createTestClock();
    const gateway = await start({}, clock);
    drift = DRIFT;
    for (let index = 0; index < 8; index += 1) {
      clock.advance(8 * 60 * 60);
      expect(await statuses(gateway, 1)).toEqual([502]);
    }
    expect(levelsIn(gateway.gateway).store.decisions()).toEqual([]);
  });

  it('remain refused at low traffic if the share is not certain to be exceeded', async () => {
    const clock = createTestClock();
    const gateway = await start({}, clock);
    const seen: number[] = [];
    for (let index = 0; index < 12; index += 1) {
      clock.advance(30);
      drift = index % 4 === 0 ? undefined : DRIFT;
      seen.push(...(await statuses(gateway, 1)));
    }
    expect(seen).toEqual([200, 502, 502, 502, 200, 502, 502, 502, 200, 502, 502, 502]);
    expect(levelsIn(gateway.gateway).store.decisions()).toEqual([]);
  });

  it('are forwarded even if they are too few for the window, once enough of the last responses have failed', async () => {
    const clock = createTestClock();
    const gateway = await start({}, clock);
    drift = DRIFT;
    const seen: number[] = [];
    for (let index = 0; index < 5; index += 1) {
      clock.advance(30);
      seen.push(...(await statuses(gateway, 1)));
    }
    expect(seen).toEqual([502, 502, 502, 502, 200]);
    expect(levelsIn(gateway.gateway).store.decisions()).toMatchObject([
      { operation: 'listIdeas', check: 'responses', move: 'demoted', judged: 4, failed: 4, windowSeconds: 90 },
    ]);
  });

  it.each<[string, FakeResponse]>([
    ['an HTML page', { headers: { 'Content-Type': 'text/html' }, body: '<html>down</html>' }],
    ['a broken body', { headers: { 'Content-Type': 'application/json' }, body: '{"list":' }],
    ['an error inside a success response', { json: { errors: { message: 'nothing works' } } }],
    ['an error status', { status: 500, json: { error: 'down' } }],
  ])('remain enforced while the upstream is failing and sends %s', async (_name, response) => {
    const gateway = await start();
    drift = response;
    expect(new Set(await statuses(gateway, 8))).toEqual(new Set([502]));
    drift = DRIFT;
    expect(await statuses(gateway, 1)).toEqual([502]);
    expect(levelsIn(gateway.gateway).store.decisions()).toEqual([]);
  });
});

describe('a stored page and a remembered target from a time when responses were only reported', () => {
  it('are refused as soon as responses are enforced again', async () => {
    const gateway = await start({ cache: { enabled: true, store: 'wellFormed' } });
    drift = DRIFT;
    expect(await statuses(gateway, 8)).toEqual([502, 502, 502, 502, 200, 200, 200, 200]);
    expect(fake.requests).toHaveLength(5);
    expect(levelsIn(gateway.gateway).ladder.lift('listIdeas', 'responses')).toBeDefined();
    expect(await statuses(gateway, 1)).toEqual([502]);
  });
});

describe('a request in flight', () => {
  it('finishes with the plan it began with, which is not remembered for the next one', async () => {
    const gateway = await start();
    const { ladder } = levelsIn(gateway.gateway);
    drift = DRIFT;
    await statuses(gateway, 4);
    expect(ladder.checksFor('listIdeas').responses).toBe('report');
    drift = undefined;
    const { promise: held, resolve: release } = Promise.withResolvers<undefined>();
    fake.handler = async (request) => {
      await held;
      return drift ?? exampleResponse(request);
    };
    const inFlight = gateway.call(LIST);
    await fake.received(5);
    ladder.lift('listIdeas', 'responses');
    release(undefined);
    expect((await inFlight).status).toBe(200);
    drift = DRIFT;
    expect(await statuses(gateway, 1)).toEqual([502]);
  });
});

describe('changes by the ladder', () => {
  it('are shown by plan and explain for a gateway that starts with them', async () => {
    const first = await start();
    drift = DRIFT;
    await statuses(first, 4);
    await first.close();
    const { gateway } = await start();
    const words = /responses report instead of enforce: demoted \S+, 4 of 4 responses failed in 60 s/;
    expect(gateway.planLines.filter((line) => words.test(line))).toMatchObject([expect.stringContaining(LIST)]);
    expect(
      (await gateway.explain({ method: 'GET', target: LIST })).filter(({ text }) => words.test(text)),
    ).toHaveLength(1);
  });

  it('are shown as stored but ineffective if the configuration leaves nothing to change', async () => {
    const first = await start();
    drift = DRIFT;
    await statuses(first, 4);
    await first.close();
    const log = (await start({ operations: {}, checks: { responses: 'report' } })).log.join('');
    expect(log).toContain('a promotion or demotion has no effect on the configured levels');
    expect(log).not.toContain('a promotion or demotion is in effect');
  });

  it('are lifted in a running gateway by an edit of the file', async () => {
    const { gateway, url } = await start();
    drift = DRIFT;
    for (let index = 0; index < 4; index += 1) await callAt(url, LIST);
    const { store, written, followFile } = levelsIn(gateway);
    await written();
    await writeLevelsFile(file, { ...store.state(), entries: [] });
    expect((await callAt(url, LIST)).status).toBe(200);
    await followFile();
    expect((await callAt(url, LIST)).status).toBe(502);
  });

  it('remain lifted if the command and the console lift the same promotion in quick succession', async () => {
    const clock = createTestClock();
    const first = await start({ operations: {} }, clock);
    const { contract } = levelsIn(first.gateway).store.contract();
    await first.close();
    const promoted = decisionWith({ move: 'promoted', since: clock(), contract });
    const before = { contracts: [{ contract, since: clock() }], entries: [promoted] };
    await writeLevelsFile(file, before);
    const { store, ladder, written, followFile } = levelsIn((await start({ operations: {} }, clock)).gateway);
    clock.advance(1000);
    // `portico ladder --lift` writes the same step.
    await writeLevelsFile(file, { ...before, entries: [{ ...promoted, move: 'lifted', since: clock() }] });
    clock.advance(1000);
    expect(ladder.lift('listIdeas', 'responses')).toBeDefined();
    await written();
    await followFile();
    expect(store.decisions()).toMatchObject([{ operation: 'listIdeas', check: 'responses', move: 'lifted' }]);
    expect(ladder.checksFor('listIdeas').responses).toBe('report');
  });
});

describe("the levels' file", () => {
  it('is a configuration error at startup if it is invalid, with its place in the configuration', async () => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '{"version": 1, "entries": 7}');
    await expect(start()).rejects.toThrow(
      /\/levels\/file: .*levels\.json is not a valid levels file: contracts must be a list/,
    );
  });

  it('is a configuration error at startup if it is configured and cannot be written', async () => {
    mkdirSync(dirname(dirname(file)), { recursive: true });
    writeFileSync(dirname(file), 'a file stands where the folder should be');
    await expect(start()).rejects.toThrow(/\/levels\/file: .*levels\.json cannot be written: .*\(E[A-Z]+\)/);
  });
});

describe('promotion', () => {
  it('enforces a check that would have refused nothing according to the ledger', async () => {
    const clock = createTestClock();
    const promote = { enabled: true, checks: ['responses'], minAnswers: 5, windowHours: 1 };
    const gateway = await start({ operations: {}, levels: { file, promote } }, clock);
    const { ladder } = levelsIn(gateway.gateway);
    const { records: ledger } = gateway.gateway.services;
    await statuses(gateway, 5);
    await ladder.promote(ledger);
    expect(ladder.checksFor('listIdeas').responses).toBe('report');
    clock.advance(3600);
    await ladder.promote(ledger);
    expect(ladder.checksFor('listIdeas').responses).toBe('enforce');
    expect(await gateway.metric('portico_ladder_promotions_total{check="responses"}')).toBe(1);
    drift = DRIFT;
    expect(await statuses(gateway, 1)).toEqual([502]);
    await gateway.close();
    expect(kept().entries).toMatchObject([{ operation: 'listIdeas', move: 'promoted' }]);
  });
});

describe('a flood of bad requests', () => {
  it.each([
    ['unknown parameters', `${LIST}?nothing=known`, undefined, 400, 'requests'],
    ['pages out of bounds', `${LIST}?pageSize=100000`, undefined, 400, 'pageBounds'],
    ['callers without the permission', '/services/v2/group/1/user.json', undefined, 403, 'permissions'],
    ['wrong credentials', LIST, { user: 'nobody', password: 'wrong' }, 401, 'authentication'],
    ['undocumented paths', '/services/v2/nowhere.json', undefined, 404, 'undocumented'],
  ] as const)('of %s lowers no level and is logged once per window', async (_name, target, call, status, check) => {
    const clock = createTestClock();
    const gateway = await start({ authentication: { failures: undefined } }, clock);
    const seen: number[] = [];
    for (let index = 0; index < 12; index += 1)
      seen.push((await gateway.call(target, { user: 'alice', ...call })).status);
    expect(seen.filter((one) => one === status).length).toBeGreaterThan(4);
    expect(levelsIn(gateway.gateway).store.decisions()).toEqual([]);
    const warnings = gateway.log.filter((line) => line.includes('unusual share'));
    expect(warnings).toHaveLength(1);
    expect(await gateway.metric(`portico_refusal_alerts_total{check="${check}"}`)).toBe(1);
    expect(
      levelsIn(gateway.gateway)
        .ladder.levels()
        .every((one) => one.effective[check] === one.configured[check]),
    ).toBe(true);
  });
});

needsProgram('redis', 'the console of gateways that share Redis', (path) => {
  // If the response came earlier, the console could show the demotion as lifted while other gateways still apply it.
  it('responds to a lifted demotion only when the other gateways can see it', async () => {
    const { url } = await startRedisServer(path);
    const gateway = await start({ redis: { url }, adminToken: 'the-token-of-the-test' });
    const { store, documents } = levelsIn(gateway.gateway);
    drift = DRIFT;
    await statuses(gateway, 4);
    expect(store.decisions()).toHaveLength(1);
    const { sync } = documents;
    const held = Promise.withResolvers<void>();
    Object.assign(documents, { sync: async () => held.promise.then(sync) });
    const headers = { authorization: 'Bearer the-token-of-the-test' };
    let isDone = false;
    const body = { operation: 'listIdeas', check: 'responses' };
    const lifted = gateway
      .admin('/console/api/levels/lift', { method: 'POST', headers, body })
      .finally(() => (isDone = true));
    await until(() => store.decisions().length === 0);
    await gateway.admin('/console/api/levels/ladder', { headers });
    expect(isDone).toBe(false);
    held.resolve();
    expect((await lifted).json).toEqual({ lifted: body, stored: true });
  });
});
