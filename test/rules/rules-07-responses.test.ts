import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Example, exampleOf } from '../builders/contract-examples.ts';
import { errorText } from '../builders/error-shapes.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { expectError } from '../builders/expect-error.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { OPERATIONS, operationOf, targetOf } from '../builders/operations.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

let fake: FakeUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
  gateway = await startTestGateway({ upstream: fake, config: { cache: { enabled: false } } });
});
beforeEach(() => {
  fake.handler = exampleResponse;
});

/**
 * Calls the operation and makes the upstream respond with this body. Returns `Contract-Status` without the report id.
 */
async function verdict(id: string, json: unknown, query = '', one = gateway): Promise<string> {
  const operation = operationOf(id);
  fake.handler = () => ({ status: operation.success, json });
  const { method, body } = operation;
  const got = await one.call(targetOf(operation, query), {
    method,
    user: id === 'updateComment' ? operation.allowed : 'admin',
    headers: { 'Portico-Force': 'true' },
    ...(body !== undefined && { body }),
  });
  expect(got.status).toBe(operation.success);
  return String(got.headers['contract-status']).replace(/; report=[a-f][\da-f]{15}/, '');
}
const bent = (id: string, change: (body: Example) => void) => {
  const body = exampleOf(id);
  change(body);
  return body;
};
const withMore = (one: object) => ({ ...one, unheardOf: { deep: [1] } });
const SEMANTIC = 'violations; count=1; worst=semantic';

const relations = (id: string) => ({ ...exampleOf(id), list: [{ who: 1, since: 'x' }] });

const sameDate = (count: number) => Array.from({ length: count }, () => '2019-02-06 15:01:00.0');

describe('rules 7: the full form', () => {
  it.each(OPERATIONS.filter(({ id }) => id !== 'updateComment'))(
    'accepts the documented response of $id, and reports additional fields',
    async ({ id }) => {
      expect(await verdict(id, exampleOf(id))).toBe('conforming');
      const body = exampleOf(id);
      const further: unknown = Array.isArray(body) ? body.map(withMore) : withMore(body);
      expect(await verdict(id, further)).toBe('violations; count=1; worst=undocumented');
    },
  );

  it.each(OPERATIONS.filter(({ id }) => id !== 'updateComment'))(
    'rejects another outer form of $id',
    async ({ id }) => {
      for (const json of [7, 'text', Array.isArray(exampleOf(id)) ? {} : []])
        expect(await verdict(id, json)).toMatch(/^violations/);
    },
  );
});

describe('rules 7: the projected form', () => {
  it.each([
    { query: 'includeOnly=id,title', item: { id: 1, title: 'x' }, says: 'conforming' },
    { query: 'includeOnly=id,author.username', item: { id: 1, author: { username: 'x' } }, says: 'conforming' },
    { query: 'includeOnly=id%2Ctitle', item: { id: 1 }, says: 'conforming' },
    { query: 'exclude=body', item: { id: 1 }, says: 'conforming' },
    { query: 'include=topics', item: { id: 1 }, says: 'conforming' },
    { query: 'includeOnly=id', item: { id: 'one' }, says: 'violations; count=1; worst=type' },
    {
      query: 'includeOnly=id',
      item: { id: 1, title: 'a field that was not requested' },
      says: 'violations; count=1; worst=not-allowed',
    },
  ])('$query: $says', async ({ query, item, says }) => {
    expect(await verdict('listQuestions', { ...exampleOf('listQuestions'), list: [item] }, query)).toBe(says);
  });
});

describe('rules 7: details=true is open, FollowRelation is not documented', () => {
  it.each(['listTopicFollowers', 'listNodeFollowers'])('%s', async (id) => {
    expect(await verdict(id, relations(id), 'details=true')).toBe('conforming');
    expect(await verdict(id, relations(id))).toMatch(/^violations/);
    expect(await verdict(id, { ...relations(id), listCount: 7 }, 'details=true')).toBe(SEMANTIC);
  });
});

describe('rules 7: wrap and v1', () => {
  it.each(['wrap', 'v1'])(
    '%s: status, media type and well-formed JSON are checked; the schema is skipped unless the ordinary one passes',
    async (name) => {
      expect(await verdict('listQuestions', exampleOf('listQuestions'), `${name}=true`)).toBe('conforming');
      expect(await verdict('listQuestions', { question: [] }, `${name}=true`)).toBe(`conforming; skipped=${name}`);
      fake.handler = () => ({ body: '{"list":', headers: { 'Content-Type': 'application/json' } });
      expect((await gateway.call(`/services/v2/question.json?${name}=true`)).headers['contract-status']).toMatch(
        /^violations/,
      );
      fake.handler = () => ({ body: '{}', headers: { 'Content-Type': 'text/plain' } });
      expect((await gateway.call(`/services/v2/question.json?${name}=true`)).headers['contract-status']).toMatch(
        /^violations/,
      );
    },
  );
});

const actions = (...dates: string[]) => ({
  moreResults: 1_549_465_260_000,
  actions: dates.map((actionDate, id) => Object.assign(firstAction(), { id, actionDate })),
});
const firstAction = () => (exampleOf('listActions') as unknown as { actions: [Example] }).actions[0];
const FINISHED = {
  status: 'FINISHED',
  executions: [{ userId: 18, executionStatus: 'FINISHED', executionURL: 'http://x/y' }],
};
const job = (more: object) => ({ ...exampleOf('getGdprJob'), ...more });
const result = (id: string, member: string, more: object) => {
  const body = exampleOf(id);
  Object.assign(body.result[member] as object, more);
  return body;
};
const recipients = [{ id: 7, name: 'Staff', type: 'group' }];
const spaces = (containerIds: unknown) => bent('listQuestions', ({ list }) => Object.assign(list[0], { containerIds }));

describe('rules 7: semantic rules', () => {
  it.each([
    {
      rule: 'listCount is the length of list',
      id: 'listIdeas',
      good: exampleOf('listIdeas'),
      bad: { ...exampleOf('listIdeas'), listCount: 2 },
    },
    {
      rule: 'recipients only with visibility recipients (4)',
      id: 'getComment',
      good: { ...exampleOf('getComment'), visibility: 'recipients', recipients },
      bad: { ...exampleOf('getComment'), visibility: 'moderators', recipients },
    },
    {
      rule: 'recipients only with visibility recipients (5)',
      id: 'listNodeComments',
      good: [{ ...exampleOf('getComment'), visibility: 'recipients', recipients }],
      bad: [{ ...exampleOf('getComment'), recipients }],
    },
    {
      rule: 'recipients only with visibility recipients (16)',
      id: 'listAnswerComments',
      good: bent('listAnswerComments', ({ list }) => Object.assign(list[0], { visibility: 'recipients', recipients })),
      bad: bent('listAnswerComments', ({ list }) => Object.assign(list[0], { recipients })),
    },
    { rule: 'executions when FINISHED', id: 'getGdprJob', good: job(FINISHED), bad: job({ status: 'FINISHED' }) },
    {
      rule: 'no executions when not FINISHED',
      id: 'getGdprJob',
      good: job({}),
      bad: job({ executions: FINISHED.executions }),
    },
    {
      rule: '11 returns a canceled action',
      id: 'unmarkFavorite',
      good: exampleOf('unmarkFavorite'),
      bad: result('unmarkFavorite', 'favoriteAction', { canceled: false }),
    },
    {
      rule: '11 returns the verb favorited',
      id: 'unmarkFavorite',
      good: exampleOf('unmarkFavorite'),
      bad: result('unmarkFavorite', 'favoriteAction', { verb: 'wikified' }),
    },
    {
      rule: '12 returns a canceled action',
      id: 'cancelWiki',
      good: exampleOf('cancelWiki'),
      bad: result('cancelWiki', 'wikifyAction', { canceled: false }),
    },
    {
      rule: '12 returns the verb wikified',
      id: 'cancelWiki',
      good: exampleOf('cancelWiki'),
      bad: result('cancelWiki', 'wikifyAction', { verb: 'favorited' }),
    },
    {
      rule: '7 is newest first',
      id: 'listActions',
      good: actions('2019-02-06 15:01:01.0', '2019-02-06 15:01:00.0'),
      bad: actions('2019-02-06 15:01:00.0', '2019-02-06 15:01:01.0'),
    },
    {
      rule: '13 is only kbentry',
      id: 'listArticles',
      good: exampleOf('listArticles'),
      bad: bent('listArticles', ({ list }) => Object.assign(list[0], { type: 'question' })),
    },
  ])('$rule', async ({ id, good, bad }) => {
    expect(await verdict(id, good)).toBe('conforming');
    expect(await verdict(id, bad)).toMatch(/^violations; count=[12]; worst=/);
  });

  it('canceledByUser and canceledDate are present when canceled', async () => {
    const canceled = exampleOf('listActions') as unknown as { actions: Example[] };
    expect(await verdict('listActions', canceled)).toBe('conforming');
    for (const field of ['canceledByUser', 'canceledDate']) {
      const body = structuredClone(canceled);
      delete body.actions[1]?.[field];
      expect([field, await verdict('listActions', body)]).toEqual([field, SEMANTIC]);
    }
  });

  it("with spaceId, every item's containerIds contains it", async () => {
    expect(await verdict('listQuestions', spaces([5, 9]), 'spaceId=9')).toBe('conforming');
    expect(await verdict('listQuestions', spaces([5]), 'spaceId=9')).toBe(SEMANTIC);
    expect(await verdict('listQuestions', spaces([5]))).toBe('conforming');
  });

  it('7 has at most 20 items by default, and more if a size was requested', async () => {
    expect(await verdict('listActions', actions(...sameDate(20)))).toBe('conforming');
    expect(await verdict('listActions', actions(...sameDate(21)))).toBe(SEMANTIC);
    expect(await verdict('listActions', actions(...sameDate(21)), 'pageSize=30')).toBe('conforming');
  });

  it('both forms of actionDate are accepted, but no third one', async () => {
    expect(await verdict('listActions', actions('Thu Feb 07 15:05:50 UTC 2019', '2019-02-06 15:01:00.0'))).toBe(
      'conforming',
    );
    expect(await verdict('listActions', actions('2019-02-06T15:01:00Z'))).toMatch(/^violations/);
  });

  it('5 is a bare array', async () => {
    expect(await verdict('listNodeComments', { list: exampleOf('listNodeComments') })).toMatch(/^violations/);
  });

  it.each(['listGroupUsers', 'listTopicFollowers', 'listNodeFollowers', 'listExpertise'])(
    'sorts is absent from %s',
    async (id) => {
      expect(await verdict(id, { ...exampleOf(id), sorts: ['active'] })).toMatch(/^violations/);
    },
  );

  it.each(['listQuestions', 'listIdeas', 'listArticles', 'listAnswerComments'])(
    'sorts is present in %s',
    async (id) => {
      expect(exampleOf(id)).toHaveProperty('sorts');
    },
  );

  it('a rule runs only if every field that it reads is in the projection', async () => {
    const bad = { ...exampleOf('getComment'), visibility: 'moderators', recipients };
    expect(await verdict('getComment', bad)).toMatch(/^violations/);
    expect(await verdict('getComment', { id: 1, recipients }, 'includeOnly=id,recipients')).toBe('conforming');
    expect(await verdict('getComment', { id: 1, recipients }, 'exclude=visibility')).toBe('conforming');
    expect(await verdict('getComment', { id: 1, recipients }, 'exclude=body')).toMatch(/worst=advisory/);
    const question = { ...exampleOf('listQuestions'), list: [{ id: 1 }] };
    expect(await verdict('listQuestions', question, 'spaceId=9&includeOnly=id')).toBe('conforming');
  });
});

describe("rules 7: validation reads the upstream's original response, including errors", () => {
  it("an undocumented error shape is a violation, although the client gets Portico's form", async () => {
    fake.handler = () => ({ status: 404, json: { reason: 'x' } });
    const got = await gateway.call('/services/v2/comment/271.json');
    expectError(got, 404, 'upstream_not_found');
    expect(got.headers['contract-status']).toMatch(/^violations/);
    fake.handler = () => errorText(404, 'not found');
    expect((await gateway.call('/services/v2/comment/271.json')).headers['contract-status']).toBe('conforming');
  });

  it('at the `enforce` level, a 2xx response that breaks the contract becomes a 502 without its values', async () => {
    const config = { cache: { enabled: false }, operations: { getComment: { checks: { responses: 'enforce' } } } };
    const strict = await startTestGateway({ upstream: fake, config });
    fake.handler = () => ({ json: { ...exampleOf('getComment'), score: 'secret-value' } });
    const got = await strict.call('/services/v2/comment/271.json');
    expectError(got, 502, 'upstream_invalid_response');
    expect(got.json.details[0]).toMatchObject({ in: 'body', name: '/score' });
    expect(got.text).not.toContain('secret-value');
    fake.handler = () => errorText(404, 'not found');
    expectError(await strict.call('/services/v2/comment/271.json'), 404, 'upstream_not_found');
  });

  it('at the `report` level, the bytes reach the client unchanged', async () => {
    const body = '{"id": "no number",  "type":"comment" }';
    fake.handler = () => ({ body, headers: { 'Content-Type': 'application/json' } });
    const got = await gateway.call('/services/v2/comment/271.json');
    expect([got.status, got.text]).toEqual([200, body]);
    expect(got.headers['contract-status']).toMatch(/^violations/);
  });
});
