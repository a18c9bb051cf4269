import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { exampleOf } from '../builders/contract-examples.ts';
import { errorsMessage, errorText, htmlPage, PERMISSION_HTML, PERMISSION_TEXT } from '../builders/error-shapes.ts';
import { expectError } from '../builders/expect-error.ts';
import { type FakeResponse, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { judge } from '../engine/contract/sample.ts';
import { OPERATIONS, operationOf, targetOf } from '../builders/operations.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

const COMMENT = '/services/v2/comment/271.json';
const QUESTIONS = '/services/v2/question.json';
const ok: FakeResponse = { json: exampleOf('getComment') };
const LEGACY_CHALLENGE = { 'WWW-Authenticate': 'Basic realm="legacy"' };

let fake: FakeUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream(() => ok);
  gateway = await startTestGateway({ upstream: fake });
});

/** Returns what a client of getComment receives when the upstream sends this response. */
async function through(sends: FakeResponse, headers: Record<string, string> = {}) {
  fake.handler = () => sends;
  return gateway.call(COMMENT, { user: 'alice', headers });
}

describe('rules 8: 401 or 403 with a permission message in either JSON shape becomes 403 without a challenge', () => {
  const cases = [401, 403].flatMap((status) => [
    { name: `${status} {error}`, sends: errorText(status, PERMISSION_HTML, LEGACY_CHALLENGE) },
    { name: `${status} {errors: {message}}`, sends: errorsMessage(status, PERMISSION_HTML, LEGACY_CHALLENGE) },
  ]);
  it.each(cases)('$name', async ({ sends }) => {
    const got = await through(sends);
    expectError(got, 403, 'upstream_permission_denied');
    expect(got.json.error).toBe(PERMISSION_TEXT);
  });

  it('the documented text of operation 3 is a permission message too', async () => {
    const copy = operationOf('copyAttachments');
    fake.handler = () => errorText(401, copy.text403 ?? '');
    const got = await gateway.call(targetOf(copy), { user: 'admin', method: 'POST' });
    expectError(got, 403, 'upstream_permission_denied');
    expect(got.json.error).toBe(copy.text403);
  });
});

describe("rules 8: other JSON or an empty 401 on the caller's credential becomes a 401 with a challenge", () => {
  it.each([
    { name: '{error}', sends: errorText(401, 'Bad credentials', LEGACY_CHALLENGE) },
    { name: '{errors: {message}}', sends: errorsMessage(401, 'Bad credentials', LEGACY_CHALLENGE) },
    { name: 'other JSON', sends: { status: 401, json: { reason: 17 } } },
    { name: 'empty', sends: { status: 401 } },
  ])('$name', async ({ sends }) => {
    const got = await through(sends);
    expectError(got, 401, 'upstream_unauthorized');
    expect(got.headers['www-authenticate']).toBe('Basic realm="Portico", charset="UTF-8"');
  });

  it('the verified entry is dropped, so that the credential is verified again', async () => {
    const upstream = await startFakeUpstream(({ path, user }) => {
      if (path === COMMENT) return upstream.requests.length > 99 ? ok : errorText(401, 'Password expired');
      return errorText(user === 'alice' ? 404 : 401, 'not found');
    });
    const real = await startTestGateway({ upstream, real: true, config: { mode: 'strict' } });
    const probes = () => upstream.requests.filter(({ path, user }) => path !== COMMENT && user === 'alice').length;
    await real.call(COMMENT, { user: 'alice' });
    await real.call(COMMENT, { user: 'alice' });
    expect(probes()).toBe(2);
  });

  it('the verified entry remains while the upstream accepts it', async () => {
    const upstream = await startFakeUpstream(({ path, user }) =>
      path === COMMENT ? ok : errorText(user === 'alice' ? 404 : 401, 'not found'),
    );
    const real = await startTestGateway({ upstream, real: true, config: { mode: 'strict' } });
    await real.call(COMMENT, { user: 'alice' });
    await real.call(COMMENT, { user: 'alice' });
    expect(upstream.requests.filter(({ path, user }) => path !== COMMENT && user === 'alice')).toHaveLength(1);
  });
});

describe('rules 8: any 401 on a service credential becomes a 502 upstream_credentials_refused, with an alert', () => {
  let service: TestGateway;
  beforeAll(async () => {
    const credentials = { kind: 'service', username: 'robot', password: 'robot-secret' };
    service = await startTestGateway({ upstream: fake, config: { upstream: { credentials } } });
  });

  it.each([
    { name: 'with a permission message', sends: errorsMessage(401, PERMISSION_HTML) },
    { name: 'with other JSON', sends: errorText(401, 'Bad credentials') },
    { name: 'empty', sends: { status: 401 } },
    { name: 'with an HTML page', sends: htmlPage(401) },
  ])('$name', async ({ sends }) => {
    fake.handler = ({ user }) => (user === 'robot' ? sends : { status: 500 });
    expectError(await service.call(QUESTIONS, { user: 'alice' }), 502, 'upstream_credentials_refused');
  });

  it('it is counted and logged as an error', async () => {
    const series = 'portico_errors_total{code="upstream_credentials_refused"}';
    const before = await service.metric(series);
    fake.handler = () => ({ status: 401 });
    await service.call(QUESTIONS, { user: 'alice', headers: { 'X-Request-Id': 'refused-robot' } });
    const line = await service.lineOf('refused-robot');
    expect(line).toMatchObject({ level: 'error', error: 'upstream_credentials_refused' });
    expect(await service.metric(series)).toBe(before + 1);
  });
});

describe('rules 8: HTML with 401 becomes a 502 upstream_html', () => {
  it('by its content type', async () => {
    expectError(await through(htmlPage(401)), 502, 'upstream_html');
  });
  it('by its beginning, if it is labeled as JSON', async () => {
    const page = { ...htmlPage(401), headers: { 'Content-Type': 'application/json' } };
    expectError(await through(page), 502, 'upstream_html');
  });
});

describe('rules 8: JSON 400, 404, 409 and 422 keep their status and message, word for word', () => {
  const codes: Record<number, string> = {
    400: 'upstream_bad_request',
    404: 'upstream_not_found',
    409: 'upstream_conflict',
    422: 'upstream_unprocessable',
  };
  it.each([400, 404, 409, 422])('%i in both shapes', async (status) => {
    for (const shape of [errorText, errorsMessage]) {
      const got = await through(shape(status, `Der Knoten "ß" fehlt: ${status}!`));
      expectError(got, status, codes[status] ?? '');
      expect(got.json.error).toBe(`Der Knoten "ß" fehlt: ${status}!`);
    }
  });

  it('HTML tags are removed and entities decoded', async () => {
    const got = await through(errorText(400, 'Not &quot;this&quot;,<br/>but <b>that</b> &amp; those'));
    expect(got.json.error).toBe('Not "this", but that & those');
  });

  it('the documented texts of operations 1 and 2 are forwarded unchanged', async () => {
    const upload = operationOf('uploadGdprFile');
    fake.handler = () => errorText(400, upload.text400 ?? '');
    const refused = await gateway.call(targetOf(upload), { method: 'POST', body: { content: 'username\nx\n' } });
    expectError(refused, 400, 'upstream_bad_request');
    expect(refused.json.error).toBe('The provided file does not have a valid user.');
    fake.handler = () => errorText(404, 'not found');
    const missing = await gateway.call('/services/v2/jobs/gdpr/99.json');
    expectError(missing, 404, 'upstream_not_found');
    expect(missing.json.error).toBe('not found');
  });
});

describe('rules 8: 429 stays 429', () => {
  it.each(['120', 'Wed, 21 Oct 2026 07:28:00 GMT'])('with Retry-After unchanged: %s', async (retryAfter) => {
    const got = await through(errorText(429, 'Slow down', { 'Retry-After': retryAfter }));
    expectError(got, 429, 'upstream_rate_limited');
    expect(got.json.error).toBe('Slow down');
    expect(got.headers['retry-after']).toBe(retryAfter);
  });
});

describe('rules 8: 500 becomes 502, 503 stays 503', () => {
  it.each([500, 501, 502, 505])('%i becomes a 502 upstream_error without internal details', async (status) => {
    const got = await through(errorText(status, 'NullPointerException at com.example.Secret'));
    expectError(got, 502, 'upstream_error');
    expect(got.text).not.toContain('NullPointer');
  });
  it('an HTML page with 500 becomes a 502 too', async () => {
    expectError(await through(htmlPage(500)), 502, 'upstream_error');
  });
  it('503 keeps its Retry-After', async () => {
    const got = await through(errorText(503, 'maintenance', { 'Retry-After': '77' }));
    expectError(got, 503, 'upstream_unavailable');
    expect(got.headers['retry-after']).toBe('77');
  });
});

describe('rules 8: a redirect on a documented operation becomes a 502 upstream_redirect', () => {
  it.each([301, 302, 303, 307, 308])('%i, whose Location does not reach the client', async (status) => {
    const got = await through({ status, headers: { Location: 'http://legacy.example/login' } });
    expectError(got, 502, 'upstream_redirect');
    expect(got.headers.location).toBeUndefined();
    expect(got.text).not.toContain('legacy.example');
  });
});

describe('rules 8: 200 with a top-level error and no documented field', () => {
  it.each([errorText, errorsMessage])('becomes a 403 for a permission message', async (shape) => {
    const got = await through(shape(200, PERMISSION_HTML));
    expectError(got, 403, 'upstream_permission_denied');
    expect(got.json.error).toBe(PERMISSION_TEXT);
  });
  it.each([errorText, errorsMessage])('becomes a 502 for any other', async (shape) => {
    expectError(await through(shape(200, 'something broke')), 502, 'upstream_error_in_success');
  });
  it('is never stored', async () => {
    for (const message of [PERMISSION_HTML, 'something broke']) {
      fake.requests.length = 0;
      fake.handler = () => errorText(200, message);
      await gateway.call(QUESTIONS, { user: 'bob' });
      await gateway.call(QUESTIONS, { user: 'bob' });
      expect(fake.requests).toHaveLength(2);
    }
  });
  it('is an ordinary response if it also has a documented field', async () => {
    const got = await through({ json: { ...exampleOf('getComment'), error: 'of old' } });
    expect([got.status, got.json.error]).toEqual([200, 'of old']);
  });
});

describe('rules 8: transport failures', () => {
  it('a refused connection becomes a 502', async () => {
    const closed = createServer();
    closed.listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    const alone = await startTestGateway({ upstream: `http://127.0.0.1:${port}` });
    const got = await alone.call(COMMENT);
    expectError(got, 502, 'upstream_refused');
    expect(got.text).not.toContain(String(port));
  });

  it('a reset connection becomes a 502', async () => {
    fake.handler = (_request, response) => void response.socket?.resetAndDestroy();
    expectError(await gateway.call(COMMENT), 502, 'upstream_reset');
  });

  it('a response that breaks off becomes a 502, never a partial response', async () => {
    fake.handler = (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 1000 });
      response.write('{"id":', () => response.socket?.destroy());
      return undefined;
    };
    expectError(await gateway.call(COMMENT), 502, 'upstream_reset');
  });

  it('a missed deadline becomes a 504', async () => {
    const silent = await startFakeUpstream(() => undefined);
    const hasty = await startTestGateway({ upstream: silent, config: { upstream: { totalTimeoutMs: 30 } } });
    expectError(await hasty.call(COMMENT), 504, 'upstream_timeout');
  });

  it('a shed request gets 503 with Retry-After', async () => {
    const { promise: release, resolve } = Promise.withResolvers<void>();
    const slow = await startFakeUpstream(() => release.then(() => ok));
    const narrow = await startTestGateway({ upstream: slow, config: { upstream: { concurrency: 1, queue: 0 } } });
    const first = narrow.call(COMMENT);
    await slow.received(1);
    const shed = await narrow.call(COMMENT);
    resolve();
    expectError(shed, 503, 'upstream_overloaded');
    expect(Number(shed.headers['retry-after'])).toBeGreaterThan(0);
    expect((await first).status).toBe(200);
  });

  it('an open circuit leads to 503 with Retry-After, sends nothing, and closes after a good response', async () => {
    const clock = createTestClock();
    const broken = await startFakeUpstream((_request, response) => void response.socket?.destroy());
    const circuit = { failures: 2, openSeconds: 7 };
    const guarded = await startTestGateway({ upstream: broken, clock, config: { upstream: { circuit } } });
    for (const _attempt of [1, 2]) expectError(await guarded.call(COMMENT), 502, 'upstream_reset');
    const asked = broken.requests.length;
    const paused = await guarded.call(COMMENT);
    expectError(paused, 503, 'upstream_circuit_open');
    expect(paused.headers['retry-after']).toBe('7');
    expect(broken.requests).toHaveLength(asked);
    broken.handler = () => ok;
    clock.advance(7);
    expect((await guarded.call(COMMENT)).status).toBe(200);
  });
});

describe('rules 8: the error body', () => {
  it('has exactly its documented fields', async () => {
    const got = await gateway.call('/services/v2/comment/abc.json');
    expect(Object.keys(got.json).toSorted()).toEqual(['code', 'details', 'error', 'requestId', 'status']);
  });

  it('has the same content as application/problem+json if requested', async () => {
    for (const target of ['/services/v2/comment/abc.json', COMMENT]) {
      fake.handler = () => errorText(404, 'gone & away');
      const id = { 'X-Request-Id': 'the-same-request' };
      const plain = await gateway.call(target, { headers: id });
      const problem = await gateway.call(target, { headers: { ...id, Accept: 'application/problem+json' } });
      const { error, ...facts } = plain.json;
      expect(problem.headers['content-type']).toBe('application/problem+json; charset=utf-8');
      expect(problem.json).toMatchObject({ ...facts, detail: error });
      expect(problem.json).toHaveProperty('type');
      expect(problem.json).toHaveProperty('title');
      expect(problem.json).not.toHaveProperty('error');
      expect(problem.status).toBe(plain.status);
    }
  });

  it.each(['*/*', 'application/json', 'application/json, application/problem+json;q=0.5', 'text/html'])(
    "is in Portico's own form with Accept: %s",
    async (accept) => {
      const got = await gateway.call('/services/v2/comment/abc.json', { headers: { Accept: accept } });
      expect(got.headers['content-type']).toBe('application/json; charset=utf-8');
    },
  );

  it('names the missing permission in details[0].permission', async () => {
    const got = await gateway.call('/services/v2/idea.json', { user: 'guest' });
    expectError(got, 403, 'permission_denied');
    expect(got.json.details[0].permission).toBe('View list idea');
  });

  it('uses the documented text if the gateway refuses before the upstream', async () => {
    fake.requests.length = 0;
    const upload = operationOf('uploadGdprFile');
    const noUser = await gateway.call(targetOf(upload), { method: 'POST', body: { content: 'username\n' } });
    expect([noUser.status, noUser.json.error]).toEqual([400, upload.text400]);
    const job = await gateway.call('/services/v2/jobs/gdpr/abc.json');
    expect([job.status, job.json.error]).toEqual([400, "The provided 'job id' is/are invalid"]);
    const copy = operationOf('copyAttachments');
    const denied = await gateway.call(targetOf(copy), { method: 'POST', user: 'bob' });
    expect([denied.status, denied.json.error]).toEqual([403, copy.text403]);
    expect(fake.requests).toHaveLength(0);
  });

  it.each([
    ['uploadGdprFile', 'a wrong column', '', { content: 'phone\n1\n' }, /^the header must be email, userId/],
    ['uploadGdprFile', 'one empty row', '', { content: 'username\nbob\n\nalice\n' }, /^all cells of the row are empty/],
    ['uploadGdprFile', 'an unknown parameter', 'dryRun=true', { content: 'username\nbob\n' }, /^dryRun is not/],
    ['uploadGdprFile', 'a body of the wrong type', '', { content: 1 }, /^\/content must be string/],
    ['getGdprJob', 'an unknown parameter', 'colour=blue', undefined, /^colour is not/],
  ])('has its own text for a cause that the documented text of %s does not describe: %s', async (...row) => {
    const [id, , query, body, text] = row;
    const operation = operationOf(id);
    const given = { method: operation.method, ...(body !== undefined && { body }) };
    const got = await gateway.call(targetOf(operation, query), given);
    expect([got.status, got.json.error]).toEqual([400, expect.stringMatching(text)]);
  });

  it('names every alternative that would let the caller upload a file', async () => {
    const upload = operationOf('uploadGdprFile');
    const body = { content: 'username\nbob\n' };
    const got = await gateway.call(targetOf(upload), { method: 'POST', user: 'bob', body });
    expectError(got, 403, 'permission_denied');
    expect(got.json.error).toBe('You need the flag "admin" or the flag "superuser" to do this.');
    const message = 'the flag "admin" or the flag "superuser" is required';
    expect(got.json.details).toEqual([
      { flag: 'admin', message },
      { flag: 'superuser', message },
    ]);
  });

  it("leaves the upstream's status and shape in the log", async () => {
    await through(errorsMessage(401, PERMISSION_HTML), { 'X-Request-Id': 'shape-of-this-one' });
    const line = await gateway.lineOf('shape-of-this-one');
    expect(line).toMatchObject({ status: 403, upstream: { status: 401, shape: 'errors.message' } });
  });
});

describe('rules 8: errors: legacy', () => {
  let legacy: TestGateway;
  beforeAll(async () => {
    legacy = await startTestGateway({ upstream: fake, config: { errors: 'legacy' } });
  });

  it.each(OPERATIONS)("keeps the upstream's status, body and challenge: $id", async (operation) => {
    const { method, body, allowed } = operation;
    fake.handler = (request) =>
      request.method === method
        ? errorsMessage(401, PERMISSION_HTML, LEGACY_CHALLENGE)
        : { json: { author: { username: allowed } } };
    const got = await legacy.call(targetOf(operation), { method, user: allowed, ...(body !== undefined && { body }) });
    expect([got.status, got.text]).toEqual([401, JSON.stringify({ errors: { message: PERMISSION_HTML } })]);
    expect(got.headers['www-authenticate']).toBe('Basic realm="legacy"');
  });

  it('keeps an HTML page', async () => {
    fake.handler = () => htmlPage(404);
    const got = await legacy.call(COMMENT);
    expect([got.status, got.text, got.headers['content-type']]).toEqual([
      404,
      htmlPage(404).body,
      'text/html;charset=utf-8',
    ]);
  });

  it("reduces Portico's own errors to {error}", async () => {
    const got = await legacy.call('/services/v2/comment/abc.json');
    expect(got.status).toBe(400);
    expect(Object.keys(got.json)).toEqual(['error']);
  });

  it("has the documented shape of operation 9 in Portico's own errors, which its contract accepts", async () => {
    const target = targetOf(operationOf('listGroupUsers'));
    const denied = await legacy.call(target, { user: 'bob' });
    expect([denied.status, Object.keys(denied.json)]).toEqual([403, ['errors']]);
    expect(judge('listGroupUsers', denied.json, { status: 403 })).toMatchObject({ verdict: 'valid' });
    expect(denied.text).toContain('Edit users and groups');
    const invalid = await legacy.call(`${target}?colour=blue`, { user: 'admin' });
    expect([invalid.status, invalid.json]).toEqual([
      400,
      { errors: { message: 'colour is not a known parameter of this operation' } },
    ]);
  });

  it('can be chosen for one operation', async () => {
    const one = await startTestGateway({
      upstream: fake,
      config: { operations: { getComment: { errors: 'legacy' } } },
    });
    fake.handler = () => errorText(500, 'as it was');
    expect((await one.call(COMMENT)).text).toBe('{"error":"as it was"}');
    expectError(await one.call('/services/v2/node/118/comment.json'), 502, 'upstream_error');
  });
});
