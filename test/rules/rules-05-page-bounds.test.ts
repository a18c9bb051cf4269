import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exampleOf } from '../builders/contract-examples.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { expectError } from '../builders/expect-error.ts';
import { type FakeHandler, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { OPERATIONS, operationOf, targetOf } from '../builders/operations.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

const QUESTIONS = '/services/v2/question.json';
const FOLLOWERS = '/services/v2/topic/33/followers.json';
const clock = createTestClock();
const counted = OPERATIONS.filter((operation) => operation.counted);
const paged = OPERATIONS.filter((operation) => operation.paged);

let fake: FakeUpstream;
let gateway: TestGateway;
let counts = 3;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
  gateway = await startTestGateway({ upstream: fake, clock });
});
beforeEach(async () => {
  counts = 3;
  fake.handler = lists;
  await gateway.admin('/cache/purge', { method: 'POST', body: { all: true } });
  fake.requests.length = 0;
});

/**
 * Responds with the example, regardless of the requested page. If the example is a list, `counts` replaces its page
 * count and total count.
 */
const lists: FakeHandler = (request) => {
  const usual = exampleResponse(request);
  const body = usual.json;
  if (typeof body !== 'object' || body === null || !('pageCount' in body)) return usual;
  return { ...usual, json: { ...body, pageCount: counts, totalCount: counts } };
};
const read = (target: string, user = 'admin') => gateway.call(target, { user });
const asked = () => fake.requests.length;

describe('rules 5: page is an integer of at least 0, pageSize 1 to the maximum', () => {
  it.each(paged)('$id', async (operation) => {
    const status = async (query: string) => (await read(targetOf(operation, query))).status;
    for (const query of ['page=0', 'page=1', 'pageSize=1', 'pageSize=100', 'page=1&pageSize=30'])
      expect([query, await status(query)]).toEqual([query, 200]);
    fake.requests.length = 0;
    for (const query of [
      'page=-1',
      'page=x',
      'page=1.5',
      'pageSize=0',
      'pageSize=101',
      'pageSize=x',
      'pageSize=999999999',
    ])
      expect([query, await status(query)]).toEqual([query, 400]);
    expect(asked()).toBe(0);
  });

  it('the maximum is configurable, globally and per operation', async () => {
    const config = { pageBounds: { maxPageSize: 50 }, operations: { listIdeas: { pageBounds: { maxPageSize: 200 } } } };
    const other = await startTestGateway({ upstream: fake, config });
    const status = async (target: string) => (await other.call(target)).status;
    expect(await status(`${QUESTIONS}?pageSize=50`)).toBe(200);
    expectError(await other.call(`${QUESTIONS}?pageSize=51`), 400, 'page_size_out_of_bounds');
    expect(await status('/services/v2/idea.json?pageSize=200')).toBe(200);
    expectError(await other.call('/services/v2/idea.json?pageSize=201'), 400, 'page_size_out_of_bounds');
  });

  it('are reported and forwarded at the `report` level', async () => {
    const other = await startTestGateway({ upstream: fake, config: { checks: { pageBounds: 'report' } } });
    const got = await other.call(`${QUESTIONS}?pageSize=500`);
    expect(got.status).toBe(200);
    expect(got.headers['contract-status']).toMatch(/^violations; count=1; worst=bounds; report=[a-f][\da-f]{15}$/);
  });
});

describe('rules 5: 5 and 7 have no pageCount', () => {
  it('7 accepts any page', async () => {
    for (const page of [0, 1, 2, 40, 999_999])
      expect((await read(`/services/v2/action.json?page=${page}`)).status).toBe(200);
  });
  it('5 accepts no page at all', async () => {
    expectError(await read('/services/v2/node/118/comment.json?page=1'), 400, 'unknown_parameter');
  });
});

describe('rules 5: based on a response, a page beyond pageCount gets 400', () => {
  it.each(counted)('$id', async (operation) => {
    const got = await read(targetOf(operation, 'page=4'));
    expectError(got, 400, 'page_out_of_bounds');
    expect(got.json.details[0]).toMatchObject({ in: 'query', name: 'page' });
    expect(asked()).toBe(1);
    expect((await read(targetOf(operation, 'page=3'))).status).toBe(200);
  });

  it('is counted as a bounds refusal and not as a response violation', async () => {
    const series = [
      'portico_page_bound_refusals_total{operation="listQuestions"}',
      'portico_contract_violations_total{operation="listQuestions",direction="response",category="bounds",accepted="false"}',
      'portico_contract_violations_total{operation="listQuestions",direction="response",category="semantic",accepted="false"}',
    ];
    const values = () => Promise.all(series.map((one) => gateway.metric(one)));
    const before = await values();
    const headers = { 'X-Request-Id': 'page-too-far' };
    await gateway.call(`${QUESTIONS}?page=4`, { headers });
    expect(await gateway.lineOf('page-too-far')).toMatchObject({ checks: { pageBounds: 'refused' } });
    expect(await values()).toEqual([(before[0] ?? 0) + 1, before[1], before[2]]);
  });
});

describe('rules 5: from memory, only a page beyond the learned count plus one is refused', () => {
  it.each(counted)('$id', async (operation) => {
    await read(targetOf(operation));
    fake.requests.length = 0;
    expectError(await read(targetOf(operation, 'page=5')), 400, 'page_out_of_bounds');
    expect(asked()).toBe(0);
    counts = 4;
    expect((await read(targetOf(operation, 'page=4'))).status).toBe(200);
    expect(asked()).toBe(1);
    expectError(await read(targetOf(operation, 'page=6')), 400, 'page_out_of_bounds');
    expect(asked()).toBe(1);
  });

  it.each([
    ['another filter', `${QUESTIONS}?q=x`],
    ['another size', `${QUESTIONS}?pageSize=5`],
    ['another list', '/services/v2/idea.json?lang=de'],
  ])('a count applies only to its own key: %s', async (_name, target) => {
    await read(QUESTIONS);
    counts = 9;
    expect((await read(`${target}${target.includes('?') ? '&' : '?'}page=9`)).status).toBe(200);
  });

  it('a count applies only to its own audience', async () => {
    await read(QUESTIONS, 'alice');
    counts = 9;
    expect((await read(`${QUESTIONS}?page=9`, 'bob')).status).toBe(200);
    expectError(await read(`${QUESTIONS}?page=9`, 'alice'), 400, 'page_out_of_bounds');
  });

  it('a count is used for 300 s', async () => {
    await read(QUESTIONS);
    counts = 9;
    clock.advance(299);
    expectError(await read(`${QUESTIONS}?page=9`), 400, 'page_out_of_bounds');
    clock.advance(1);
    expect((await read(`${QUESTIONS}?page=9`)).status).toBe(200);
  });

  it('a count is dropped with its tags, by a write or a purge', async () => {
    const forget = [
      () => gateway.call(targetOf(operationOf('cancelWiki')), { method: 'PUT', user: 'moderator' }),
      () => gateway.admin('/cache/purge', { method: 'POST', body: { tags: ['questions'] } }),
    ];
    for (const drop of forget) {
      counts = 3;
      await read(QUESTIONS);
      counts = 9;
      expectError(await read(`${QUESTIONS}?page=9`), 400, 'page_out_of_bounds');
      expect((await drop()).status).toBe(200);
      expect((await read(`${QUESTIONS}?page=9`)).status).toBe(200);
      await gateway.admin('/cache/purge', { method: 'POST', body: { all: true } });
    }
  });

  it('a count is not learned from a page whose fetch began before a write', async () => {
    const { promise: release, resolve } = Promise.withResolvers<void>();
    fake.handler = async (request, response) => {
      if (request.path === QUESTIONS && asked() === 1) await release;
      return lists(request, response);
    };
    const old = read(QUESTIONS);
    await fake.received(1);
    await gateway.call(targetOf(operationOf('cancelWiki')), { method: 'PUT', user: 'moderator' });
    resolve();
    await old;
    counts = 9;
    expect((await read(`${QUESTIONS}?page=9`)).status).toBe(200);
  });

  it('a count is not learned from an error or from an invalid count', async () => {
    for (const bad of [{ status: 500 }, { json: { ...exampleOf('listQuestions'), pageCount: 'three' } }]) {
      fake.handler = () => bad;
      await read(QUESTIONS);
      fake.handler = lists;
      counts = 9;
      expect((await read(`${QUESTIONS}?page=9`)).status).toBe(200);
      await gateway.admin('/cache/purge', { method: 'POST', body: { all: true } });
    }
  });
});

describe('rules 5: the rule is waived', () => {
  it('if totalCount is 0', async () => {
    counts = 0;
    for (const operation of counted)
      for (const query of ['page=1', 'page=7'])
        expect([operation.id, (await read(targetOf(operation, query))).status]).toEqual([operation.id, 200]);
  });
  it('for the first page, whatever pageCount is', async () => {
    fake.handler = (request) => {
      const usual = exampleResponse(request);
      return { ...usual, json: { ...(usual.json as object), pageCount: 0, totalCount: 4 } };
    };
    for (const target of [QUESTIONS, `${QUESTIONS}?page=1`, `${QUESTIONS}?page=0`, FOLLOWERS, `${FOLLOWERS}?page=0`])
      expect([target, (await read(target)).status]).toEqual([target, 200]);
  });
});
