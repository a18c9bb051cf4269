import { describe, expect, it } from 'vitest';
import { clientOf } from '../reference-client.ts';
import { withReferenceServer } from '../with-reference-server.ts';
import { textLike } from '../matchers.ts';

const { call, server, questions } = withReferenceServer({ basePath: '/qa' });

describe('undocumented routes', () => {
  it('return single nodes by type', async () => {
    const question = (await questions()).find(({ answers }) => answers.length > 0);
    expect((await call(`/question/${question.id}.json`)).json).toEqual(question);
    expect((await call(`/answer/${question.answers[0]}.json`)).json).toMatchObject({ type: 'answer', depth: 1 });
    expect((await call(`/answer/${question.id}.json`)).status).toBe(404);
    expect((await call('/question/x.json')).status).toBe(400);
  });

  it('return the nodes below a question in the envelope', async () => {
    const question = (await questions()).find(({ answers, commentIds }) => answers.length > 0 && commentIds.length > 0);
    const answers = (await call(`/question/${question.id}/answer.json`)).json;
    expect(answers.list.map(({ id }) => id)).toEqual(question.answers);
    const comments = (await call(`/question/${question.id}/comment.json`)).json;
    expect([comments.totalCount, comments.pageSize]).toEqual([question.commentIds.length, 15]);
  });

  it.each([
    ['/answer.json', 900],
    ['/comment.json', 1500],
    ['/node.json', 3080],
    ['/user.json', 60],
    ['/topic.json', 40],
    ['/space.json', 5],
  ])('list all items at %s', async (path, total) => {
    const { json } = await call(path);
    expect(json.totalCount).toBe(total);
    expect(json.list).toHaveLength(json.listCount);
  });

  it('return a user by id and by name', async () => {
    const byId = (await call('/user/3.json')).json;
    expect(byId).toMatchObject({ username: 'alice', realname: 'Alice Archer' });
    expect((await call('/user/getByUsername.json?username=alice')).json).toEqual(byId);
    expect((await call('/user/getByUsername.json?username=nobody')).status).toBe(404);
  });

  it('accept an answer, which the question then shows', async () => {
    const [question] = await questions();
    const response = await call(`/question/${question.id}/answer.json`, {
      method: 'POST',
      user: 'bob',
      body: { body: '<p>Try this</p>' },
    });
    expect([response.status, response.json.type]).toEqual([201, 'answer']);
    expect(response.headers.location).toBe(`${server().url}/services/v2/answer/${response.json.id}.json`);
    expect((await call(`/question/${question.id}.json`)).json).toMatchObject({
      answerCount: question.answerCount + 1,
      lastActiveUserId: 4,
    });
    const refused = await call(`/question/${question.id}/answer.json`, { method: 'POST', user: 'bob', body: {} });
    expect(refused.status).toBe(400);
  });

  it('accept a question at the path of the list', async () => {
    const body = { title: 'Where is the <log>?', body: 'a < b', topics: ['login', 'unheard-of'], spaceId: 12 };
    const { status, json } = await call('/question.json', { method: 'POST', user: 'alice', body });
    expect(status).toBe(201);
    expect(json).toMatchObject({ slug: 'where-is-the-log', bodyAsHTML: '<p>a &lt; b</p>', containerIds: [12] });
    expect(json.topics.map(({ name }) => name)).toEqual(['login']);
    expect((await call('/question.json?pageSize=1')).json.list[0].id).toBe(json.id);
    expect((await call('/question.json', { method: 'POST', user: 'alice', body: {} })).status).toBe(400);
  });

  it('redirect to an absolute URL of this server', async () => {
    const question = (await questions()).find(({ answers }) => answers.length > 0);
    const { status, headers } = await call(`/question/${question.id}/latest.json`);
    expect([status, headers.location]).toEqual([
      302,
      textLike(/^http:\/\/127\.0\.0\.1:\d+\/qa\/services\/v2\/answer\/\d+\.json$/),
    ]);
  });
});

describe('unknown routes', () => {
  it.each(['/nothing/here.json', '/question.JSON', '/Question.json', '/question.json/', '/comment/1%2F..%2F2.json'])(
    'respond to %s with an HTML page and no stack trace',
    async (path) => {
      const { status, headers, text } = await call(path);
      expect([400, 404]).toContain(status);
      if (status === 404) expect(headers['content-type']).toMatch(/^text\/html/);
      expect(text).not.toMatch(/\bat .*\.ts|node_modules/);
    },
  );

  it('respond with an HTML page outside the base path', async () => {
    const origin = new URL(server().url).origin;
    for (const path of ['/services/v2/question.json', '/QA/services/v2/question.json', '/']) {
      expect((await clientOf(origin)(path)).status).toBe(404);
    }
  });

  it('respond to an unsupported method with 405 and Allow', async () => {
    const { status, headers } = await call('/question.json', { method: 'DELETE' });
    expect([status, headers.allow]).toEqual([405, 'GET, POST, HEAD']);
  });

  it('respond to an invalid percent escape with 400 and no stack trace', async () => {
    const { status, text } = await call('/comment/%zz.json');
    expect(status).toBe(400);
    expect(text).not.toMatch(/URIError|node_modules/);
  });
});
