import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exampleResponse } from '../builders/example-response.ts';
import { expectError } from '../builders/expect-error.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { EXAMPLE_IDS, OPERATIONS, operationOf, targetOf } from '../builders/operations.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

let fake: FakeUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
  const config = { cache: { enabled: false }, authentication: { cacheSeconds: 3600 } };
  gateway = await startTestGateway({ upstream: fake, config });
});
beforeEach(() => {
  fake.requests.length = 0;
  fake.handler = exampleResponse;
});

/** Sends an operation's documented request with this query, using an account that may use the operation. */
function ask(id: string, query: string, one = gateway) {
  const operation = operationOf(id);
  const { method, body, allowed } = operation;
  const headers = { 'Portico-Force': 'true' };
  return one.call(targetOf(operation, query), { method, user: allowed, headers, ...(body !== undefined && { body }) });
}

describe('rules 4: a path parameter matches any one non-empty segment, then is checked', () => {
  it.each([
    'abc',
    '-1',
    '+1',
    '1.0',
    '1e1',
    '0x10',
    '%20',
    '%31a',
    'null',
    '9223372036854775808',
    '99999999999999999999',
    '%ff',
    '%zz',
    '١',
  ])('comment/%s.json returns 400, not 404', async (id) => {
    const got = await gateway.call(`/services/v2/comment/${id === '١' ? '%D9%A1' : id}.json`);
    expectError(got, 400, 'invalid_parameter');
    expect(got.json.details[0]).toMatchObject({ in: 'path', name: 'commentId' });
    expect(fake.requests).toHaveLength(0);
  });

  it('jobs/gdpr/abc.json has its documented message', async () => {
    const got = await gateway.call('/services/v2/jobs/gdpr/abc.json');
    expect([got.status, got.json.error]).toEqual([400, "The provided 'job id' is/are invalid"]);
  });

  it.each(['0', '1', '9007199254740993', '9223372036854775807', '007', '%31%32'])(
    'comment/%s.json is a comment, and its path is sent unchanged',
    async (id) => {
      fake.handler = () => ({ json: {} });
      expect((await gateway.call(`/services/v2/comment/${id}.json`)).status).toBe(200);
      expect(fake.requests[0]?.target).toBe(`/services/v2/comment/${id}.json`);
    },
  );

  it.each([
    '/services/v2/comment/.json',
    '/services/v2/comment/1/2.json',
    '/services/v2/comment/1.json/',
    '/services/v2/comment/1',
    '/services/v2/comment/1.JSON',
    '/services/v2/Comment/1.json',
    '/Services/v2/comment/1.json',
    '/services/v2//comment/1.json',
    '//services/v2/comment/1.json',
    '/services/v2/comment/1.json;x=1',
    '/services/v2/%63omment/1.json',
    '/services/v2/comment/1%2ejson',
    '/services/v1/comment/1.json',
    '/comment/1.json',
    '/',
  ])('%s is another path: matching is exact in case, slashes and .json', async (target) => {
    expectError(await gateway.call(target), 404, 'not_in_contract');
    expect(fake.requests).toHaveLength(0);
  });
});

const EVERY = [...new Set(OPERATIONS.flatMap(({ accepts }) => accepts))];
/** Parameters that are counted but never refused. */
const REPORTED: Record<string, string[]> = {
  listArticles: ['sort=votes', 'include=id', 'exclude=body', 'includeOnly=id,author.username'],
  listActions: EVERY,
};

describe('rules 4: parameters of the contract', () => {
  it.each(OPERATIONS)(
    '$id accepts its own parameters and no others',
    async ({ id, method, allowed, success, accepts }) => {
      fake.handler = (request) => {
        if (request.method !== method) return { json: { author: { username: allowed } } };
        return { status: success, json: { pageCount: 9, totalCount: 99 } };
      };
      for (const query of EVERY) {
        const isKnown = accepts.includes(query) || REPORTED[id]?.includes(query) === true;
        const got = await ask(id, query);
        expect([query, got.status, got.json.code]).toEqual(
          isKnown ? [query, success, undefined] : [query, 400, 'unknown_parameter'],
        );
      }
    },
  );

  it.each(Object.entries(REPORTED))('%s counts undocumented parameters without refusing them', async (id) => {
    const series = `portico_contract_violations_total{operation="${id}",direction="request",category="undocumented",accepted="false"}`;
    const before = await gateway.metric(series);
    const headers = { 'X-Request-Id': `reported-${id}` };
    const query = id === 'listActions' ? 'moreResults=1549465260000' : 'sort=votes';
    expect((await gateway.call(targetOf(operationOf(id), query), { headers })).status).toBe(200);
    expect(await gateway.lineOf(`reported-${id}`)).toMatchObject({ checks: { requests: 'reported' } });
    expect(await gateway.metric(series)).toBe(before + 1);
  });

  it('parameters.allow adds more, per operation', async () => {
    const other = await startTestGateway({
      upstream: fake,
      config: { parameters: { allow: { listQuestions: ['space'] } } },
    });
    expect((await ask('listQuestions', 'space=5', other)).status).toBe(200);
    expect(fake.requests[0]?.target).toBe('/services/v2/question.json?space=5');
    expectError(await ask('listIdeas', 'space=5', other), 400, 'unknown_parameter');
    await expect(
      startTestGateway({ upstream: fake, config: { parameters: { allow: { listQuestion: ['x'] } } } }),
    ).rejects.toMatchObject({
      faults: [{ suggestion: 'did you mean listQuestions?' }],
    });
  });
});

describe('rules 4: unknown parameters', () => {
  it.each([
    ['listQuestions', 'pagesize=5', 'pageSize'],
    ['listQuestions', 'space=5', 'spaceId'],
    ['listTopicFollowers', 'detail=true', 'details'],
    ['listIdeas', 'includeonly=id', 'includeOnly'],
  ])('are refused with a suggestion: %s %s', async (id, query, suggestion) => {
    const got = await ask(id, query);
    expectError(got, 400, 'unknown_parameter');
    expect(got.json.details[0]).toMatchObject({ in: 'query', name: query.split('=')[0], suggestion });
    expect(got.json.error).toContain(suggestion);
    expect(fake.requests).toHaveLength(0);
  });

  it('are forwarded and reported if `requests` is `report`, and only forwarded if it is `off`', async () => {
    const config = { checks: { requests: 'report' }, operations: { listIdeas: { checks: { requests: 'off' } } } };
    const lenient = await startTestGateway({ upstream: fake, config });
    const reported = await ask('listQuestions', 'colour=blue&page=2&page=x', lenient);
    expect([reported.status, reported.headers['contract-status']]).toEqual([
      200,
      expect.stringMatching(/^violations; count=2; worst=bounds; report=[a-f][\da-f]{15}$/),
    ]);
    expect(fake.requests[0]?.target).toBe('/services/v2/question.json?colour=blue&page=2&page=x');
    expect((await ask('listIdeas', 'colour=blue', lenient)).headers['contract-status']).toBe('conforming');
  });
});

describe('rules 4: repeated parameters', () => {
  it.each([
    ['listQuestions', 'page=1&page=2'],
    ['listQuestions', 'pageSize=5&pageSize=5'],
    ['listQuestions', 'sort=votes&sort=newest'],
    ['listQuestions', 'spaceId=5&q=x&spaceId=6'],
    ['listQuestions', 'page=1&%70age=2'],
    ['listTopicFollowers', 'details=true&details=false'],
    ['listNodeFollowers', 'active=true&active=true'],
  ])('are refused for known single parameters: %s?%s', async (id, query) => {
    expectError(await ask(id, query), 400, 'repeated_parameter');
    expect(fake.requests).toHaveLength(0);
  });

  it.each(['topics=a&topics=b', 'topics=a,b&topics=c%2Cd', 'q=a&q=b', 'includeOnly=id&includeOnly=title'])(
    'pass otherwise: %s',
    async (query) => {
      expect((await ask('listQuestions', query)).status).toBe(200);
      expect(fake.requests[0]?.target).toBe(`/services/v2/question.json?${query}`);
    },
  );
});

describe('rules 4: formats that are not documented are bounded text', () => {
  it('an invalid sort is never refused on 9', async () => {
    for (const sort of ['nonsense', 'activ', '%F0%9F%98%80', '1', '', 'x'.repeat(200)])
      expect((await ask('listGroupUsers', `sort=${sort}`)).status).toBe(200);
  });
  it.each(['q', 'topics'])('%s may be long, but not unlimited', async (name) => {
    expect((await ask('listQuestions', `${name}=${'x'.repeat(2000)}`)).status).toBe(200);
    expectError(await ask('listQuestions', `${name}=${'x'.repeat(2001)}`), 400, 'invalid_parameter');
  });
  it.each(['type=anything', 'lang=xx-unheard', 'unanswered=perhaps', 'topics=%2C%2C', 'q=%22%3C%26'])(
    '%s passes',
    async (query) => {
      expect((await ask('listQuestions', query)).status).toBe(200);
    },
  );
  it.each([
    'q=%ff',
    'q=%zz',
    '%ff=1',
    'spaceId=%31%',
    'page=0x1',
    'page=1e0',
    'page=%201',
    'page=1.0',
    'page=-1',
    'page=',
    'spaceId=',
    'details=True',
    'details=1',
  ])('%s does not pass', async (query) => {
    const id = query.startsWith('details') ? 'listTopicFollowers' : 'listQuestions';
    expect((await ask(id, query)).status).toBe(400);
    expect(fake.requests).toHaveLength(0);
  });
});

describe('rules 4: the content type', () => {
  it('of a request without a body is never refused', async () => {
    for (const type of ['text/plain', 'application/xml', 'nonsense', 'multipart/form-data'])
      for (const operation of OPERATIONS.filter(({ body }) => body === undefined)) {
        const { method, allowed, success } = operation;
        const got = await gateway.call(targetOf(operation), {
          method,
          user: allowed,
          headers: { 'Content-Type': type },
        });
        expect([operation.id, type, got.status]).toEqual([operation.id, type, success]);
      }
  });

  it.each(['text/plain', 'application/xml', 'application/jsonp', 'application/x-www-form-urlencoded'])(
    'of a body that is %s gets 415',
    async (type) => {
      for (const id of ['uploadGdprFile', 'createComment']) {
        const operation = operationOf(id);
        const got = await gateway.call(targetOf(operation), {
          method: operation.method,
          user: operation.allowed,
          body: JSON.stringify(operation.body),
          headers: { 'Content-Type': type },
        });
        expectError(got, 415, 'unsupported_media_type');
      }
      expect(fake.requests).toHaveLength(0);
    },
  );

  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset=UTF-8'])(
    'of a body may be %s',
    async (type) => {
      const { method, body, allowed } = operationOf('createComment');
      const text = JSON.stringify(body);
      const got = await gateway.call(targetOf(operationOf('createComment')), {
        method,
        user: allowed,
        body: text,
        headers: { 'Content-Type': type },
      });
      expect(got.status).toBe(201);
      expect(fake.requests[0]?.headers['content-type']).toBe('application/json');
    },
  );
});

describe('rules 4: the label of a body', () => {
  const operation = operationOf('createComment');
  const send = (one: TestGateway, types: string | readonly string[], body = JSON.stringify(operation.body)) =>
    one.call(targetOf(operation), {
      method: operation.method,
      user: operation.allowed,
      body,
      headers: { 'Content-Type': types },
    });
  const LATIN1 = ['iso-8859-1', 'ISO-8859-1', '"latin1"', 'utf-16', ' us-ascii ', ''].map(
    (charset) => `application/json; charset=${charset}`,
  );

  it.each([...LATIN1, 'application/json; x=y; CHARSET = utf-16', 'application/json;charset=utf-8;charset=latin1'])(
    'must not be %s: 415, and the text names UTF-8',
    async (type) => {
      const got = await send(gateway, type);
      expectError(got, 415, 'unsupported_media_type');
      expect(got.text).toContain('UTF-8');
      expect(fake.requests).toHaveLength(0);
    },
  );

  it.each([
    [['application/json', 'text/plain']],
    [['text/plain', 'application/json']],
    [['application/json', 'application/json; charset=utf-16']],
  ])('must not be given twice in different ways, %j: 400', async (types) => {
    expectError(await send(gateway, types), 400, 'invalid_body');
    expect(fake.requests).toHaveLength(0);
  });

  it('may be repeated', async () => {
    expect((await send(gateway, ['application/json', 'Application/JSON'])).status).toBe(201);
    expect(fake.requests[0]?.rawHeaders.filter((name) => /^content-type$/i.test(name))).toHaveLength(1);
  });

  it.each(['report', 'off', 'observe'])('is never changed without a refusal: %s', async (level) => {
    const lenient = await startTestGateway({
      upstream: fake,
      config: level === 'observe' ? { mode: 'observe' } : { checks: { requests: level } },
    });
    for (const types of [[LATIN1[0] ?? ''], ['application/json', 'text/plain'], ['text/plain; charset=latin1']]) {
      fake.requests.length = 0;
      const got = await send(lenient, types);
      expect(got.status).toBe(201);
      const { rawHeaders = [] } = fake.requests.at(-1) ?? {};
      expect(rawHeaders.filter((_, at) => at % 2 === 1 && /^content-type$/i.test(rawHeaders[at - 1] ?? ''))).toEqual(
        types,
      );
      const line = await lenient.lineOf(String(got.headers['x-request-id']));
      if (level !== 'off') expect(JSON.stringify(line)).toContain('reported');
    }
  });
});

describe("rules 4: values travel upstream in the client's own encoding", () => {
  it.each([
    'q=a+b',
    'q=a%20b',
    'q=%C3%A4%2f',
    'topics=a,b',
    'topics=a%2Cb',
    'includeOnly=id%2cauthor.username',
    "q='()*!~",
    '&q=x&&lang=de&',
    'q=a=b',
    '%71=x',
  ])('%s', async (query) => {
    expect((await ask('listQuestions', query)).status).toBe(200);
    const sent = query
      .split('&')
      .filter((piece) => piece !== '')
      .join('&');
    expect(fake.requests[0]?.target).toBe(`/services/v2/question.json?${sent}`);
  });
  it('64-bit ids are not rounded', async () => {
    const ids = { ...EXAMPLE_IDS, group: '9223372036854775807' };
    await gateway.call(targetOf(operationOf('listGroupUsers'), '', ids));
    expect(fake.requests[0]?.path).toBe('/services/v2/group/9223372036854775807/user.json');
    await ask('listQuestions', 'spaceId=9007199254740993');
    expect(fake.requests[1]?.target).toBe('/services/v2/question.json?spaceId=9007199254740993');
  });
});
