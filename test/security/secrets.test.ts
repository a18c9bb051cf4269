import { connect } from 'node:net';
import { once } from 'node:events';
import { beforeAll, describe, expect, it } from 'vitest';
import { basic, type ClientResponse, type Call } from '../builders/call.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { errorsMessage, errorText } from '../builders/error-shapes.ts';
import {
  type FakeResponse,
  type FakeHandler,
  type FakeUpstream,
  startFakeUpstream,
} from '../builders/fake-upstream.ts';
import { fastRoles } from '../builders/fast-roles.ts';
import { OPERATIONS, type OperationCase, operationOf, targetOf } from '../builders/operations.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { until } from '../builders/until.ts';

/*
 * The attack: someone who reads logs, metrics, the ledger of violations or an error page collects passwords, names,
 * email addresses and the text of private comments. The test adds a mark to every piece of text that a caller or the
 * upstream can send. No mark may appear in anything that operators or other people can read. A log line identifies a
 * request by its operation or by the form of its path, never by its content.
 */

const MARK = 'leak7';
/** The name of a user who has every role and is in every group. It contains the mark and is also the password. */
const USER = `${MARK}-user@mail.example`;
const CREDENTIAL = basic(USER).slice('Basic '.length);
const ID = '71234567890123';

/** Headers that any client may send. Each contains the mark. */
const HEADERS = {
  Cookie: `session=${MARK}-cookie`,
  'X-Auth-Token': `${MARK}-token`,
  'User-Agent': `${MARK}-agent`,
  Referer: `http://intranet/${MARK}-referer`,
  'X-Forwarded-For': `${MARK}.forwarded`,
  Forwarded: `for=${MARK}-forwarded`,
  Accept: `application/json, text/${MARK}`,
  tracestate: `vendor=${MARK}-state`,
  'If-None-Match': `"${MARK}"`,
  'Portico-Force': MARK,
  'X-Odd': `${MARK}-odd`,
};

/** A well-formed body for an upload or comment. Every documented member and some undocumented ones contain the mark. */
const BODY = {
  content: `userId,username\n,${MARK}@mail.example\n`,
  body: `${MARK} the private text`,
  visibility: 'recipients',
  recipients: [{ id: 7, name: `${MARK}-group`, type: 'group' }],
  [`${MARK}-member`]: `${MARK}-value`,
};

const BAD_BODIES: readonly unknown[] = [
  `{"content": "${MARK}`,
  { content: `${MARK},email\n"${MARK}\n` },
  { content: `username\n${MARK},${MARK}\n` },
  { content: `username\n${MARK}"x\n` },
  { content: `username\n"${MARK}"x\n` },
  { content: { [MARK]: MARK }, body: { [MARK]: MARK }, visibility: [MARK], recipients: MARK },
  [MARK],
];

/** Queries that contain the mark in parameter names and values. Some of the parameters expect a number or a boolean. */
const QUERIES = [
  `q=${MARK}%40mail.example&topics=${MARK}-topic`,
  `page=${MARK}&pageSize=${MARK}-size&spaceId=${MARK}&details=${MARK}`,
  `sort=${MARK}%0d&includeOnly=${MARK}-field&q=%ff${MARK}`,
  `${MARK}%40mail.example=1&a%20${MARK}=2`,
];

/** Responses that contain the mark in every place where an upstream can put text. */
const RESPONSES: Readonly<Record<string, FakeResponse>> = {
  'a 400 in the first shape': errorText(400, `${MARK}-said: no such thing`),
  'a 409 in the second shape': errorsMessage(409, `${MARK}-said: <b>twice</b>`),
  'a 401': errorText(401, `${MARK}-said`, { 'WWW-Authenticate': `Basic realm="${MARK}-realm"` }),
  'a 403': errorsMessage(403, `You don't have permission, ${MARK}-said`),
  'a 429': errorText(429, `${MARK}-said`, { 'Retry-After': '3' }),
  'a 500': { status: 500, json: { error: `${MARK}-said`, stack: `at ${MARK}` } },
  'a 503': errorText(503, `${MARK}-said`),
  'an HTML page': { status: 500, headers: { 'Content-Type': 'text/html' }, body: `<h1>${MARK}-said</h1>` },
  'a redirect': { status: 302, headers: { Location: `http://other/${MARK}-login?u=${MARK}` } },
  'an error inside a success response': { json: { error: `${MARK}-said` } },
  'a body that is not JSON': { headers: { 'Content-Type': 'application/json' }, body: `{"a": "${MARK}-said` },
  'a body of another shape': {
    json: {
      list: [{ id: `${MARK}-said`, [`${MARK}-key`]: { [MARK]: [MARK] }, type: MARK, creationDateFormatted: MARK }],
    },
  },
  'cookies and headers': {
    headers: { 'Set-Cookie': `${MARK}=1`, 'X-Debug': MARK, 'Content-Type': `text/${MARK}`, Vary: MARK },
    body: MARK,
  },
};

/**
 * Operations of every kind: paged and cached lists, single objects, a bare array, actions, and writes with and
 * without a body.
 */
const SOME = ['listQuestions', 'getComment', 'listNodeComments', 'listActions', 'unmarkFavorite', 'uploadGdprFile'];

/** The statuses whose message comes from the upstream and may be shown to clients (docs/rules.md §8). */
const WORDED = new Set([400, 401, 403, 404, 409, 422, 429]);

/** Responds with the documented examples. The caller is the author of every comment and may therefore change it. */
const examples: FakeHandler = (request) => {
  const usual = exampleResponse(request);
  if (!/\/comment\/\d+\.json$/.test(request.path)) return usual;
  return { ...usual, json: { ...(usual.json as object), author: { id: 7, username: USER, reputation: 1 } } };
};

const breaking: FakeHandler = (_request, response) => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 1000 });
  response.write(`{"body":"${MARK}`, () => response.socket?.destroy());
  return undefined;
};

let fake: FakeUpstream;
const gateways = new Map<string, TestGateway>();
const gatewayOf = (mode: string): TestGateway => gateways.get(mode) as TestGateway;

beforeAll(async () => {
  fake = await startFakeUpstream(examples);
  const roles = await fastRoles([
    {
      name: USER,
      roles: ['standard', 'custom', 'site administration', 'moderation', 'private comments', 'attachments'],
      groups: ['Super Users'],
      flags: ['admin', 'superuser'],
    },
  ]);
  const allow = [{ method: '*', path: '/services/v2/**' }];
  for (const mode of ['strict', 'staging', 'observe']) {
    const config = { mode, undocumented: { allow }, logging: { level: 'trace' } };
    gateways.set(mode, await startTestGateway({ upstream: fake, roles, config }));
  }
});

const MODES = ['strict', 'staging', 'observe'];

/** Sends a request with the mark in its headers. */
function send(gateway: TestGateway, target: string, call: Call = {}): Promise<ClientResponse> {
  const requestId = `secrets-${(count += 1)}`;
  awaited.add(requestId);
  return gateway.call(target, {
    user: USER,
    ...call,
    headers: { ...HEADERS, 'X-Request-Id': requestId, ...call.headers },
  });
}
let count = 0;
const awaited = new Set<string>();

const ask = (gateway: TestGateway, operation: OperationCase, query = '', body: unknown = operation.body && BODY) =>
  send(gateway, targetOf(operation, query), { method: operation.method, body });

/** Returns everything about a gateway that operators can read. The log begins with line number `from`. */
async function readable(gateway: TestGateway, from = 0): Promise<string> {
  const pages = await Promise.all(['/metrics', '/readyz', '/livez', '/nothing'].map((page) => gateway.admin(page)));
  const ledger = JSON.stringify(await gateway.gateway.services.records.snapshot());
  return [...gateway.log.slice(from), ...pages.map(({ text }) => text), ledger].join('\n');
}

/** For each gateway, the number of log lines that have already been searched. */
const searched = new WeakMap<TestGateway, number>();

async function expectNoMark(gateway: TestGateway): Promise<void> {
  const from = searched.get(gateway) ?? 0;
  await until(() => {
    for (const line of gateway.log.slice(from)) awaited.delete((JSON.parse(line) as { requestId: string }).requestId);
    return awaited.size === 0;
  });
  searched.set(gateway, gateway.log.length);
  const text = await readable(gateway, from);
  expect(text.length).toBeGreaterThan(1000);
  const at = text.toLowerCase().indexOf(MARK);
  expect(at < 0 ? '' : text.slice(Math.max(0, at - 200), at + 50)).toBe('');
  expect(text).not.toContain(CREDENTIAL);
  expect(text).not.toContain(ID);
}

/** Returns everything that a client receives in an error from Portico: the status line, headers and body. */
const readByClient = ({ text, rawHeaders }: ClientResponse) => `${text}\n${rawHeaders.join('\n')}`.toLowerCase();

describe.each(MODES)('in %s, marked text from callers', (mode) => {
  it('appears nowhere for successful requests with marked credentials, headers, queries and bodies', async () => {
    fake.handler = examples;
    const gateway = gatewayOf(mode);
    for (const operation of OPERATIONS) {
      const reply = await ask(gateway, operation, '', operation.body && { ...BODY, [`${MARK}-member`]: undefined });
      expect(reply.status).toBeLessThan(300);
    }
    await expectNoMark(gateway);
  });

  it('is neither recorded nor repeated from queries that break the contract', async () => {
    fake.handler = exampleResponse;
    const gateway = gatewayOf(mode);
    for (const operation of OPERATIONS) {
      for (const query of QUERIES) {
        const reply = await ask(gateway, operation, query);
        expect(readByClient(reply)).not.toContain(MARK);
      }
    }
    await expectNoMark(gateway);
  });

  it('is neither recorded nor repeated from bodies that break the contract', async () => {
    fake.handler = examples;
    const gateway = gatewayOf(mode);
    for (const operation of OPERATIONS.filter(({ body }) => body !== undefined)) {
      for (const body of BAD_BODIES) {
        const reply = await ask(gateway, operation, '', body);
        if (mode !== 'observe' && operation.id === 'uploadGdprFile') expect(reply.status).toBe(400);
        if (reply.status >= 400) expect(readByClient(reply)).not.toContain(MARK);
      }
      const type = { 'Content-Type': `application/${MARK}` };
      const coded = { 'Content-Encoding': MARK, 'Content-Type': 'application/json' };
      for (const headers of [type, coded]) {
        const { method } = operation;
        const reply = await send(gateway, targetOf(operation), { method, headers, body: MARK });
        if (reply.status >= 400) expect(readByClient(reply)).not.toContain(MARK);
      }
    }
    await expectNoMark(gateway);
  });

  it.each([`${MARK}@mail.example`, ID, `a%20${MARK}`, MARK, `..;${MARK}`, `${MARK}%00`])(
    'is neither recorded nor repeated from paths: %s',
    async (segment) => {
      fake.handler = () => ({ status: 404, json: { error: 'not found' } });
      const gateway = gatewayOf(mode);
      const targets = ['comment', 'jobs/gdpr', `nothing/${segment}`].flatMap((resource) => [
        `/services/v2/${resource}/${segment}.json`,
        `/services/v2/${resource}/${segment}/comment.json?q=${MARK}`,
        `/elsewhere/${segment}`,
      ]);
      for (const method of ['GET', 'DELETE'])
        for (const target of targets) {
          const reply = await send(gateway, target, { method });
          expect(readByClient(reply)).not.toContain(MARK);
          expect(reply.text).not.toContain(ID);
        }
      await expectNoMark(gateway);
    },
  );

  it('is neither recorded nor repeated from refused or malformed credentials', async () => {
    fake.handler = () => ({ status: 404, json: { error: 'not found' } });
    const gateway = gatewayOf(mode);
    const fields = [
      basic(`${MARK}-nobody`, `${MARK}-password`),
      basic(USER, `${MARK}-wrong`),
      `Basic ${MARK}`,
      `Basic ${MARK}!`,
      `Bearer ${MARK}-bearer`,
      `Basic ${Buffer.from(MARK).toString('base64')}`,
      MARK,
    ];
    for (const target of ['/services/v2/comment/271.json', '/services/v2/nothing.json'])
      for (const Authorization of fields) {
        const reply = await send(gateway, target, { user: null, headers: { Authorization } });
        expect(readByClient(reply)).not.toContain(MARK);
      }
    for (const field of fields.slice(0, 2)) expect(await readable(gateway)).not.toContain(field.slice(6));
    await expectNoMark(gateway);
  });

  it('is neither recorded nor repeated from messages that are not HTTP', async () => {
    const gateway = gatewayOf(mode);
    const lines = [
      `GET /${MARK} HTTP/1.1\r\nHost: x\r\n${MARK} : 1\r\n\r\n`,
      `${MARK} / HTTP/1.1\r\nHost: x\r\n\r\n`,
      `GET /${MARK} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${MARK}\r\nContent-Length: ${MARK}\r\n\r\n`,
      `GET /?${'a'.repeat(20_000)}${MARK} HTTP/1.1\r\nHost: x\r\nX-A: ${MARK}\r\n\r\n`,
      `GET /services/v2/comment/271.json HTTP/1.1\r\nHost: ${MARK}\r\nAuthorization: Basic ${MARK}\r\nAuthorization: ${MARK}\r\nConnection: close\r\n\r\n`,
    ];
    for (const line of lines) {
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
      const parts: Buffer[] = [];
      socket.on('data', (part: Buffer) => parts.push(part));
      socket.write(line);
      await once(socket, 'close');
      const text = Buffer.concat(parts).toString();
      expect(text).toMatch(/^HTTP\/1\.1 4\d\d /);
      expect(text.toLowerCase()).not.toContain(MARK);
    }
    await expectNoMark(gateway);
  });
});

describe.each(MODES)('in %s, marked text from the upstream', (mode) => {
  it.each(Object.entries(RESPONSES))(
    "is neither recorded from %s nor shown in one of Portico's errors",
    async (_name, sends) => {
      fake.handler = () => sends;
      const gateway = gatewayOf(mode);
      gateway.gateway.services.cache.purgeAll();
      for (const operation of SOME.map(operationOf)) {
        const { method, body } = operation;
        const got = await send(gateway, targetOf(operation), { method, body, headers: { 'Portico-Force': 'true' } });
        if (mode !== 'observe' && got.status >= 400 && !WORDED.has(got.status))
          expect(readByClient(got)).not.toContain(MARK);
      }
      await send(gateway, '/services/v2/nothing.json');
      await expectNoMark(gateway);
    },
  );

  it('is not recorded from a response that breaks off', async () => {
    fake.handler = breaking;
    const gateway = gatewayOf(mode);
    for (const operation of OPERATIONS.filter(({ method }) => method === 'GET'))
      await ask(gateway, operation).catch(() => undefined);
    await expectNoMark(gateway);
  });
});

describe('marked text from the configuration', () => {
  it('appears nowhere if the upstream refuses a marked service credential', async () => {
    const credentials = { kind: 'service', username: `${MARK}-robot`, password: `${MARK}-password` };
    const service = await startTestGateway({
      upstream: fake,
      config: { upstream: { credentials }, adminToken: `${MARK}-token` },
    });
    fake.handler = ({ user }) => errorText(401, `${user ?? ''} is not known`);
    const reply = await service.call('/services/v2/question.json', {
      user: 'alice',
      headers: { 'X-Request-Id': 'robot' },
    });
    expect(reply.status).toBe(502);
    expect(readByClient(reply)).not.toContain(MARK);
    await service.lineOf('robot');
    const refused = await service.admin('/cache/purge', {
      method: 'POST',
      body: { all: true },
      headers: { Authorization: `Bearer ${MARK}` },
    });
    expect(refused.status).toBe(401);
    expect(readByClient(refused)).not.toContain(MARK);
    const text = await readable(service);
    expect(text.toLowerCase()).not.toContain(MARK);
    expect(text).not.toContain(basic(credentials.username, credentials.password).slice(6));
  });
});

describe('an unexpected error', () => {
  it('is logged by its name and location, without its message, which may quote anything', async () => {
    fake.handler = examples;
    let armed = false;
    const random = () => {
      if (armed) throw new TypeError(`${MARK}: "${MARK}@mail.example" is not iterable`);
      return 0.99;
    };
    const operations = { listQuestions: { cache: { audience: 'public', assumeImpersonal: true } } };
    const gateway = await startTestGateway({
      upstream: fake,
      random,
      config: { operations, cache: { sampleShared: 1 } },
    });
    await gateway.call('/services/v2/question.json', { user: 'alice' });
    armed = true;
    const reply = await gateway.call('/services/v2/question.json', {
      user: 'bob',
      headers: { 'X-Request-Id': 'unexpected' },
    });
    expect([reply.status, reply.json.code]).toEqual([500, 'internal_error']);
    expect(readByClient(reply)).not.toContain(MARK);
    expect(await gateway.lineOf('unexpected')).toMatchObject({ level: 'error', cause: { name: 'TypeError' } });
    expect((await readable(gateway)).toLowerCase()).not.toContain(MARK);
  });
});
