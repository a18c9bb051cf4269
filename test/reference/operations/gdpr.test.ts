import { describe, expect, it } from 'vitest';
import type { ReceivedResponse } from '../reference-client.ts';
import { TEST_NOW, withReferenceServer } from '../with-reference-server.ts';
import { anyNumber, anyText, textLike } from '../matchers.ts';

const { call, server, setNow } = withReferenceServer();
const upload = (content: unknown, user: string | null = 'admin'): Promise<ReceivedResponse> =>
  call('/users/gdpr/upload.json', { method: 'POST', user, body: { content } });
const schedule = (body: unknown, user = 'admin'): Promise<ReceivedResponse> =>
  call('/jobs/gdpr/schedule.json', { method: 'POST', user, body });
const NOBODY = { error: 'The provided file does not have a valid user.' };

describe('operation 1, the bulk upload', () => {
  it.each([
    ['one name', 'username\nbob\nnobody-here\n'],
    ['an id', 'userId\n4'],
    ['an email address', 'email\nBob@community.example.org\n'],
    ['two columns with empty cells', 'userId,username\n,bob\n1,\n,nobody-here\n'],
    ['columns in the other order, CRLF, a byte order mark and quotes', '\uFEFFusername,userId\r\n"bob",4\r\n'],
  ])('stores a file that names a user by %s', async (_, content) => {
    const { status, json } = await upload(content);
    expect([status, json]).toEqual([201, { fileId: anyNumber }]);
  });

  it.each([
    ['names an unknown user only', 'username\nnobody-here\n'],
    ['names two users in one row', 'userId,username\n1,bob\n'],
    ['has no rows', 'username\n'],
  ])('responds with the documented 400 if the file %s', async (_, content) => {
    const { status, json } = await upload(content);
    expect([status, json]).toEqual([400, NOBODY]);
  });

  it.each([
    ['has an unknown column', 'phone\n1\n'],
    ['has columns that cannot be combined', 'email,username\na@b.c,bob\n'],
    ['is not CSV', 'username\n"bob\n'],
    ['is empty', ''],
    ['is not a string', 7],
  ])('responds with 400 if the content %s', async (_, content) => {
    const { status, json } = await upload(content);
    expect([status, json]).toEqual([400, { error: anyText }]);
    expect(json).not.toEqual(NOBODY);
  });

  it('is for admins and super users', async () => {
    expect((await upload('username\nbob\n', 'moderator')).json).toHaveProperty('errors');
    expect((await upload('username\nbob\n', null)).headers).toHaveProperty('www-authenticate');
  });

  it('responds with 400 to a body that is not JSON', async () => {
    const response = await call('/users/gdpr/upload.json', { method: 'POST', body: '{"content":' });
    expect([response.status, response.json]).toEqual([400, { error: anyText }]);
  });
});

describe('operation 2, a job', () => {
  it('returns the documented errors', async () => {
    const ill = await call('/jobs/gdpr/abc.json');
    expect([ill.status, ill.json]).toEqual([400, { error: "The provided 'job id' is/are invalid" }]);
    const none = await call('/jobs/gdpr/999999999.json', { user: 'guest' });
    expect([none.status, none.json]).toEqual([404, { error: 'not found' }]);
    const anonymous = await call('/jobs/gdpr/0.json', { user: null });
    expect([anonymous.status, anonymous.text]).toEqual([401, '']);
    expect(anonymous.headers['www-authenticate']).toMatch(/^Basic /);
  });

  it('is seeded as pending or finished, and has executions only if it is finished', async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, (_, id) => call(`/jobs/gdpr/${id}.json`)));
    const jobs = responses.filter(({ status }) => status === 200).map(({ json }) => json);
    expect(new Set(jobs.map(({ status }) => status))).toEqual(new Set(['PENDING', 'FINISHED']));
    for (const job of jobs) expect('executions' in job).toBe(job.status === 'FINISHED');
  });
});

describe('a scheduled job', () => {
  it('is pending until it is due, then finished with one execution per user', async () => {
    const { fileId } = (await upload('username\nbob\njana.cerny\nnobody-here\n')).json;
    const { status, json } = await schedule({ fileId, operations: 'anonymize', scheduleTime: '05/04/2026 12:00' });
    expect([status, json]).toEqual([
      201,
      {
        id: anyNumber,
        scheduleTime: '05/04/2026 12:00',
        operations: 'anonymize',
        userId: 1,
        status: 'PENDING',
      },
    ]);
    const path = `/jobs/gdpr/${json.id}.json`;
    setNow(Date.UTC(2026, 4, 4, 11, 59, 59, 999));
    expect((await call(path)).json).not.toHaveProperty('executions');
    expect((await call('/user/4.json')).json.username).toBe('bob');
    setNow(Date.UTC(2026, 4, 4, 12, 0));
    const { json: done } = await call(path);
    expect(done).toMatchObject({ status: 'FINISHED' });
    expect(done.executions).toHaveLength(2);
    const [first] = done.executions;
    expect(first).toEqual({
      userId: 4,
      executionStatus: 'FINISHED',
      executionURL: textLike(/^http:\/\/127\.0\.0\.1:\d+\/services\/v2\/users\/gdpr\/execution\/\d+\/status\.json$/),
    });
    const execution = await call(first.executionURL.slice(`${server().url}/services/v2`.length));
    expect(execution.json).toMatchObject({ jobId: json.id, userId: 4, executionStatus: 'FINISHED' });
    setNow(TEST_NOW);
  });

  it('replaces the user name, so that the old name can no longer log in', async () => {
    const { json } = await call('/user/4.json');
    expect(json).toMatchObject({ username: 'anonymous-4' });
    expect(json).not.toHaveProperty('realname');
    expect((await call('/question.json', { user: 'bob' })).status).toBe(401);
    expect((await upload('email\nbob@community.example.org')).json).toEqual(NOBODY);
  });

  it('runs immediately without a time, and a suspended user can no longer log in', async () => {
    const { fileId } = (await upload('username\nalice')).json;
    const { json } = await schedule({ fileId: String(fileId), operations: ['suspend'] });
    expect(json.status).toBe('FINISHED');
    expect((await call('/user/3.json')).json).toMatchObject({ suspended: true, username: 'alice' });
    expect((await call('/question.json', { user: 'alice' })).status).toBe(401);
  });

  it('can delete and anonymize a user together', async () => {
    const { fileId } = (await upload('username\nguest')).json;
    await schedule({ fileId, operations: 'anon-delete', scheduleTime: '01/01/2020 00:00' });
    expect((await call('/user/5.json')).json).toMatchObject({
      active: false,
      deactivated: true,
      username: 'anonymous-5',
    });
  });

  it.each([
    [{ operations: 'suspend' }, /fileId/],
    [{ fileId: 999_999, operations: 'suspend' }, /fileId/],
    [{ fileId: 1, operations: 'explode' }, /operations/],
    [{ fileId: 1 }, /operations/],
    [{ fileId: 1, operations: 'suspend', scheduleTime: '2026-05-04' }, /scheduleTime/],
  ])('is refused with 400 for %j', async (body, reason) => {
    const response = await schedule(body);
    expect([response.status, response.json.error]).toEqual([400, textLike(reason)]);
  });

  it('is for admins and super users', async () => {
    expect((await schedule({ fileId: 1, operations: 'suspend' }, 'moderator')).json).toHaveProperty('errors');
  });
});
