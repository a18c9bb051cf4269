import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callAt } from '../builders/call.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { createTestClock, type TestClock } from '../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { eventually, until } from '../builders/until.ts';

const QUESTIONS = '/services/v2/question.json';
const UNDOCUMENTED = 'violations; count=1; worst=undocumented';

let fake: FakeUpstream;
let gateway: TestGateway;
let clock: TestClock;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
});
beforeEach(async () => {
  fake.handler = exampleResponse;
  fake.requests.length = 0;
  clock = createTestClock();
  const config = { mode: 'staging', operations: { listQuestions: { checks: { responses: 'enforce' } } } };
  gateway = await startTestGateway({ upstream: fake, config, clock });
});
afterAll(() => fake.close());

/** Returns all ledger entries in the form `direction keyword at × count`. */
async function ledger(): Promise<string[]> {
  const { entries } = await gateway.gateway.services.records.snapshot();
  return entries
    .map(({ direction, keyword, at, count }) => `${direction} ${keyword} ${at} × ${count}`)
    .toSorted((a, b) => (a < b ? -1 : 1));
}

const drifting = () => {
  const page = exampleOf('listQuestions');
  return { json: { ...page, list: page.list.map((item) => Object.assign(item, { mood: 'bob@example.com' })) } };
};

describe('a page with undocumented fields', () => {
  it('is forwarded at the `enforce` level, counted and stored', async () => {
    fake.handler = drifting;
    const first = await gateway.call(QUESTIONS);
    expect([first.status, first.headers['contract-status']]).toEqual([200, expect.stringContaining(UNDOCUMENTED)]);
    const second = await gateway.call(QUESTIONS);
    expect(second.headers['cache-status']).toMatch(/hit/);
    expect(fake.requests).toHaveLength(1);
    await until(() => gateway.log.length >= 2);
    expect(await ledger()).toEqual(['response undocumented-field /list/*/mood × 1']);
    const labels = 'operation="listQuestions",direction="response",category="undocumented",accepted="false"';
    expect(await gateway.metric(`portico_contract_violations_total{${labels}}`)).toBe(1);
    expect(await gateway.metric('portico_checks_total{check="responses",outcome="passed"}')).toBe(1);
    expect(JSON.stringify([...gateway.log, await gateway.gateway.services.records.snapshot()])).not.toContain('bob@');
  });
});

describe('a page that lacks expected fields and has dates of another locale', () => {
  it('is forwarded at the `enforce` level, reported once per field, and stored', async () => {
    fake.handler = () => {
      const page = exampleOf('listQuestions');
      const [{ slug: _, ...item }] = page.list as unknown as [Record<string, unknown>];
      const list = Array.from({ length: 5 }, () => ({ ...item, creationDateFormatted: '14.11.2023 22:13' }));
      return { json: { ...page, list, listCount: 5, totalCount: 5 } };
    };
    const first = await gateway.call(QUESTIONS);
    expect([first.status, first.headers['contract-status']]).toEqual([
      200,
      expect.stringContaining('violations; count=2; worst=advisory'),
    ]);
    expect((await gateway.call(QUESTIONS)).headers['cache-status']).toMatch(/hit/);
    expect(fake.requests).toHaveLength(1);
    await until(() => gateway.log.length >= 2);
    expect(await ledger()).toEqual([
      'response x-expected /list/*/slug × 1',
      'response x-expected-pattern /list/*/creationDateFormatted × 1',
    ]);
    const labels = 'operation="listQuestions",direction="response",category="advisory",accepted="false"';
    expect(await gateway.metric(`portico_contract_violations_total{${labels}}`)).toBe(2);
    expect(await gateway.metric('portico_checks_total{check="responses",outcome="passed"}')).toBe(1);
  });
});

describe('an upstream failure', () => {
  it('is counted once per exchange, however many requests wait for the same page', async () => {
    const held = Promise.withResolvers<void>();
    fake.handler = async () => {
      await held.promise;
      return { status: 500, json: { error: 'broken' } };
    };
    const asking = Array.from({ length: 5 }, () => gateway.call(QUESTIONS));
    await until(() => fake.requests.length === 1);
    held.resolve();
    expect((await Promise.all(asking)).map(({ status }) => status)).toEqual([502, 502, 502, 502, 502]);
    await until(() => gateway.log.length >= 5);
    expect(fake.requests.length).toBeLessThan(5);
    const times = fake.requests.length;
    expect(await ledger()).toEqual([`response server-error  × ${times}`, `response upstream_error  × ${times}`]);
  });

  it('is counted during the background refresh of a page', async () => {
    await gateway.call(QUESTIONS);
    clock.advance(35);
    fake.handler = () => ({ status: 503, json: { error: 'away' } });
    expect((await gateway.call(QUESTIONS)).status).toBe(200);
    await until(() => fake.requests.length === 2);
    await eventually(async () => (await gateway.metric('portico_ledger_entries')) === 1);
    expect(await ledger()).toEqual(['response server-error  × 1']);
  });
});

describe('a refused request', () => {
  it('is recorded with the missing permission, including its spaces, if the roles file refuses it', async () => {
    expect((await gateway.call('/services/v2/action.json', { user: 'alice' })).status).toBe(403);
    await until(() => gateway.log.length >= 1);
    const [entry, ...others] = (await gateway.gateway.services.records.snapshot()).entries;
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      operation: 'listActions',
      check: 'permissions',
      direction: 'request',
      category: 'permission',
      keyword: 'permission-denied',
      at: 'View analytics',
      status: undefined,
    });
  });

  it('is recorded with every alternative if several permissions would each be enough', async () => {
    const upload = { method: 'POST', user: 'alice', body: { content: 'userId,username\n,alice\n' } };
    expect((await gateway.call('/services/v2/users/gdpr/upload.json', upload)).status).toBe(403);
    await until(() => gateway.log.length >= 1);
    const [entry, ...others] = (await gateway.gateway.services.records.snapshot()).entries;
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      operation: 'uploadGdprFile',
      keyword: 'permission-denied',
      at: 'admin or superuser',
    });
  });

  it('is not a violation if its credential is refused', async () => {
    expect((await gateway.call(QUESTIONS, { password: 'wrong' })).status).toBe(401);
    expect((await gateway.call(QUESTIONS, { user: null })).status).toBe(401);
    await until(() => gateway.log.length >= 2);
    expect(await ledger()).toEqual([]);
  });

  it('is recorded with the place of the violation: bounds, parameters, path or method', async () => {
    await gateway.call(`${QUESTIONS}?pageSize=4711`);
    await gateway.call(`${QUESTIONS}?page=abc`);
    await gateway.call(`${QUESTIONS}?colour=blue`);
    await callAt(gateway.url, '/services/v2/user/bob/space.json', { user: 'admin', method: 'DELETE' });
    await gateway.call(QUESTIONS, { method: 'DELETE' });
    await until(() => gateway.log.length >= 5);
    expect(await ledger()).toEqual([
      'request method DELETE /services/v2/question.json × 1',
      'request page_size_out_of_bounds pageSize × 1',
      'request path DELETE /services/v2/user/{name}/space.json × 1',
      'request type page × 1',
      'request unknown colour × 1',
    ]);
  });

  it('records undocumented members too, which alone would not refuse it', async () => {
    const body = { body: 'x', mood: 'x' };
    const made = await gateway.call('/services/v2/node/118/comment.json', { method: 'POST', body });
    expect([made.status, made.headers['contract-status']]).toEqual([201, expect.stringContaining(UNDOCUMENTED)]);
    await gateway.call('/services/v2/node/118/comment.json', { method: 'POST', body: { mood: 'x', body: 5 } });
    await until(() => gateway.log.length >= 2);
    expect(await ledger()).toEqual(['request type /body × 1', 'request undocumented-field /mood × 2']);
  });
});
