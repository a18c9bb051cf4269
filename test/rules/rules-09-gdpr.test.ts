import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startReferenceServer } from '../../src/reference/start-reference-server.ts';
import type { ClientResponse, Call } from '../builders/call.ts';
import { errorText } from '../builders/error-shapes.ts';
import { expectError } from '../builders/expect-error.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

const UPLOAD = '/services/v2/users/gdpr/upload.json';
const stored = () => ({ status: 201, json: { fileId: 7 } });

let fake: FakeUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream(stored);
  gateway = await startTestGateway({ upstream: fake });
});
beforeEach(() => {
  fake.requests.length = 0;
  fake.handler = stored;
});

const upload = (to: TestGateway, content: unknown, call: Call = {}): Promise<ClientResponse> =>
  to.call(UPLOAD, { method: 'POST', body: { content }, ...call });

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** Returns a different upload each time. */
const fresh = () => `username\nuser-${(count += 1)}\n`;
let count = 0;

describe('rules 9: an upload stores a file, and the schedule path creates a job', () => {
  it('gets 201 and the file id; the job is scheduled from it and can be requested', async () => {
    const clock = createTestClock();
    const reference = await startReferenceServer({ clock });
    try {
      const allow = [{ method: 'POST', path: '/services/v2/jobs/gdpr/schedule.json' }];
      const whole = await startTestGateway({ upstream: reference, clock, config: { undocumented: { allow } } });
      const file = await upload(whole, 'username\nbob\n');
      expect(file.status).toBe(201);
      const { fileId } = file.json as unknown as { fileId: unknown };
      expect(Object.keys(file.json)).toEqual(['fileId']);
      const job = await whole.call('/services/v2/jobs/gdpr/schedule.json', {
        method: 'POST',
        body: { fileId, operations: 'anonymize', scheduleTime: '05/05/2026 10:00' },
      });
      expect(job.text).toContain('PENDING');
      const [, id] = /"id":(\d+)/.exec(job.text) ?? [];
      const found = await whole.call(`/services/v2/jobs/gdpr/${id}.json`);
      expect([found.status, found.json.status]).toEqual([200, 'PENDING']);
    } finally {
      await reference.close();
    }
  });

  it("without any existing user gets 400 with the upstream's documented text", async () => {
    const reference = await startReferenceServer();
    try {
      const whole = await startTestGateway({ upstream: reference });
      const got = await upload(whole, 'username\nno-such-user\n');
      expectError(got, 400, 'upstream_bad_request');
      expect(got.json.error).toBe('The provided file does not have a valid user.');
    } finally {
      await reference.close();
    }
  });
});

describe('rules 9: the CSV', () => {
  it.each([
    ['one column: email', 'email\na@b.example\n'],
    ['one column: userId', 'userId\n17\n'],
    ['one column: username', 'username\nbob\n'],
    ['two columns', 'userId,username\n17,bob\n'],
    ['two columns in the other order', 'username,userId\nbob,17\n'],
    ['with CRLF', 'username\r\nbob\r\nalice\r\n'],
    ['with quoted cells', 'username\n"bob"\n"a ""b"", c\nd"\n'],
    ['with a quoted header', '"userId","username"\n17,bob\n'],
    ['without a final newline', 'username\nbob'],
    ['with one of two cells empty', 'userId,username\n,pz03\n18,\n'],
    ['with blank last lines', 'userId,username\n17,bob\n\n\n'],
    ['with blank last lines and CRLF', 'username\r\nbob\r\n\r\n\r\n'],
  ])("%s is accepted, and the client's bytes are forwarded", async (_name, content) => {
    const body = ` ${JSON.stringify({ content })}\n`;
    const headers = { ...JSON_TYPE, 'Portico-Force': 'true' };
    expect((await gateway.call(UPLOAD, { method: 'POST', body, headers })).status).toBe(201);
    expect(fake.requests.map((request) => request.body.toString())).toEqual([body]);
  });

  it.each(['enforce', 'report'])('is forwarded without its byte order mark, under requests %s', async (requests) => {
    const one = await startTestGateway({ upstream: fake, config: { checks: { requests } } });
    for (const mark of ['\ufeff', String.raw`\ufeff`]) {
      const body = `{"note":"\ufeffkept","content":"${mark}username\\n${mark === '\ufeff' ? 'bob' : 'alice'}"}`;
      fake.requests.length = 0;
      expect((await one.call(UPLOAD, { method: 'POST', body, headers: JSON_TYPE })).status).toBe(201);
      const [sent] = fake.requests;
      expect(JSON.parse(sent?.body.toString() ?? '')).toEqual({
        note: '\ufeffkept',
        content: `username\n${mark === '\ufeff' ? 'bob' : 'alice'}`,
      });
      expect(sent?.headers['content-length']).toBe(String(sent?.body.length));
    }
  });

  it('is forwarded unchanged in observe mode, even with a byte order mark', async () => {
    const observe = await startTestGateway({ upstream: fake, config: { mode: 'observe' } });
    const body = JSON.stringify({ content: '\ufeffusername\nbob' });
    await observe.call(UPLOAD, { method: 'POST', body, headers: JSON_TYPE });
    expect(fake.requests.map((request) => request.body.toString())).toEqual([body]);
  });

  it.each([
    ['no header', '17\n18\n', 1],
    ['another column', 'name\nsecret-cell\n', 1],
    ['a column in the wrong case', 'UserName\nsecret-cell\n', 1],
    ['a column twice', 'username,username\nsecret-cell,x\n', 1],
    ['all three columns', 'email,userId,username\na,b,c\n', 1],
    ['email with another column', 'email,username\na,b\n', 1],
    ['another delimiter', 'userId;username\n17;secret-cell\n', 1],
    ['a line above the header', 'sep=;\nuserId;username\n17;secret-cell\n', 1],
    ['an id that is not an integer', 'userId,username\n17,x\nsecret-cell,y\n', 3],
    ['a row without a filled cell', 'userId,username\n17,x\n,\n', 3],
    ['a row of spaces', 'username\nbob\n  \n', 3],
    ['a row with too many cells', 'username\nbob\nalice,secret-cell\n', 3],
    ['a row with too few cells', 'userId,username\n17,x\nsecret-cell\n', 3],
    ['a quote that is not closed', 'username\nbob\n"secret-cell\n', 3],
    ['a quote inside a cell', 'username\nsecret-cell"x"\n', 2],
  ])('%s gets 400 with the row number and no cell content', async (_name, content, row) => {
    const got = await upload(gateway, content);
    expectError(got, 400, 'invalid_body');
    expect(got.json.error).toBe(got.json.details[0]?.message);
    expect(got.json.details[0]).toMatchObject({ in: 'body', name: '/content', row });
    expect(got.text).not.toContain('secret-cell');
    expect(fake.requests).toEqual([]);
  });

  it('with several wrong rows gets each of them reported, up to a bound', async () => {
    const some = await upload(gateway, 'userId,username\n,\n17,x\n,\n18,y,z\n');
    expect(some.json.details.map(({ row }) => row)).toEqual([2, 4, 5]);
    const many = await upload(gateway, `userId,username\n${',\n'.repeat(500)}`);
    expect(many.json.details.length).toBeLessThanOrEqual(20);
  });

  it.each([
    ['empty', ''],
    ['only a header', 'username\n'],
    ['no text', 17],
    ['missing', undefined],
  ])('that is %s gets 400', async (_name, content) => {
    expectError(await upload(gateway, content), 400, 'invalid_body');
    expect(fake.requests).toEqual([]);
  });

  it('has a maximum number of rows', async () => {
    const small = await startTestGateway({ upstream: fake, config: { gdpr: { maxRows: 2 } } });
    expect((await upload(small, 'username\na\nb\n')).status).toBe(201);
    expectError(await upload(small, 'username\na\nb\nc\n'), 400, 'invalid_body');
  });

  it('is only reported under requests report', async () => {
    const reporting = await startTestGateway({ upstream: fake, config: { checks: { requests: 'report' } } });
    const got = await upload(reporting, 'name\nx\n');
    expect(got.status).toBe(201);
    const line = await reporting.lineOf(String(got.headers['x-request-id']));
    expect(line).toMatchObject({ checks: { requests: 'reported' } });
  });
});

describe('rules 9: an upload is never retried', () => {
  it.each(['before the response', 'in the middle of the response'])('if the connection breaks %s', async (when) => {
    fake.handler = (_request, response) => {
      if (when === 'before the response') response.socket?.destroy();
      else {
        response.writeHead(201, { 'Content-Length': 100 });
        response.write('{', () => response.socket?.destroy());
      }
      return undefined;
    };
    expectError(await upload(gateway, fresh()), 502, 'upstream_reset');
    expect(fake.requests).toHaveLength(1);
  });
  it('if the upstream responds with 503', async () => {
    fake.handler = () => errorText(503, 'later', { 'Retry-After': '0' });
    expectError(await upload(gateway, fresh()), 503, 'upstream_unavailable');
    expect(fake.requests).toHaveLength(1);
  });
});

describe('rules 9: a repeated upload after a 2xx within the window gets 409 duplicate_upload', () => {
  it('from the same caller with the same body', async () => {
    const content = fresh();
    expect((await upload(gateway, content)).status).toBe(201);
    const got = await upload(gateway, content);
    expectError(got, 409, 'duplicate_upload');
    expect(got.json.details[0]?.name).toBe('Portico-Force');
    expect(fake.requests).toHaveLength(1);
  });
  it('even while the first one is still in progress', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    fake.handler = () => promise.then(stored);
    const content = fresh();
    const first = upload(gateway, content);
    await fake.received(1);
    expectError(await upload(gateway, content), 409, 'duplicate_upload');
    resolve();
    expect((await first).status).toBe(201);
  });
  it('but not with other rows', async () => {
    const content = fresh();
    await upload(gateway, content);
    expect((await upload(gateway, `${content}more\n`)).status).toBe(201);
    expect((await upload(gateway, content, { body: { content, note: 'again' } })).status).toBe(201);
  });
  it.each(['enforce', 'report', 'off'])('with the same rows in another form, under requests %s', async (requests) => {
    const one = await startTestGateway({ upstream: fake, config: { checks: { requests } } });
    expect((await upload(one, 'userId,username\n17,bob\n,alice\n')).status).toBe(201);
    for (const content of [
      'userId,username\r\n17,bob\r\n,alice',
      '\ufeffuserId,username\n17,bob\n,alice\n\n',
      '"username","userId"\n"bob","17"\n"alice",\n',
    ])
      expectError(await upload(one, content), 409, 'duplicate_upload');
    const spaced = { body: JSON.stringify({ content: 'userId,username\n17,bob\n,alice\n' }, undefined, 1) };
    expectError(await upload(one, '', { ...spaced, headers: JSON_TYPE }), 409, 'duplicate_upload');
    expect(fake.requests).toHaveLength(1);
  });
  it('but not from another caller', async () => {
    const reporting = await startTestGateway({ upstream: fake, config: { checks: { permissions: 'report' } } });
    const content = fresh();
    await upload(reporting, content);
    expect((await upload(reporting, content, { user: 'bob' })).status).toBe(201);
    expectError(await upload(reporting, content, { user: 'bob' }), 409, 'duplicate_upload');
  });
  it.each([400, 403, 500])('but not if the first one got %i', async (status) => {
    const content = fresh();
    fake.handler = () => errorText(status, 'no');
    expect((await upload(gateway, content)).status).toBeGreaterThanOrEqual(400);
    fake.handler = stored;
    expect((await upload(gateway, content)).status).toBe(201);
  });
  it('but not after the window', async () => {
    const clock = createTestClock();
    const config = { gdpr: { duplicateWindowSeconds: 5 } };
    const brief = await startTestGateway({ upstream: fake, clock, config });
    const content = fresh();
    await upload(brief, content);
    clock.advance(4.9);
    expectError(await upload(brief, content), 409, 'duplicate_upload');
    clock.advance(0.1);
    expect((await upload(brief, content)).status).toBe(201);
  });
  it('but not with Portico-Force: true, which is not forwarded upstream', async () => {
    const content = fresh();
    await upload(gateway, content);
    for (const word of ['false', '1', ''])
      expectError(await upload(gateway, content, { headers: { 'Portico-Force': word } }), 409, 'duplicate_upload');
    expect((await upload(gateway, content, { headers: { 'Portico-Force': 'true' } })).status).toBe(201);
    expect(fake.requests.at(-1)?.headers).not.toHaveProperty('portico-force');
  });
  it('but not in observe mode', async () => {
    const observe = await startTestGateway({ upstream: fake, config: { mode: 'observe' } });
    const content = fresh();
    for (const _time of [1, 2]) expect((await upload(observe, content)).status).toBe(201);
  });
  it('in staging mode and with requests off too', async () => {
    for (const config of [{ mode: 'staging' }, { checks: { requests: 'off' } }]) {
      const other = await startTestGateway({ upstream: fake, config });
      const content = fresh();
      await upload(other, content);
      expectError(await upload(other, content), 409, 'duplicate_upload');
    }
  });
});
