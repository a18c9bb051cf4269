import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { exampleResponse } from '../../builders/example-response.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../../builders/test-gateway.ts';
import { writeLevelsFile } from '../../../src/features/levels/levels-file.ts';
import { levelsIn } from '../../builders/levels-in.ts';
import type { AuditEntry } from '../../../src/features/trail/audit-entry.ts';

const TOKEN = 'the-admin-token';
const LIST = '/services/v2/idea.json';
const basic = { Authorization: `Basic ${btoa(`alice:${TOKEN}`)}`, 'Sec-Fetch-Site': 'same-origin' };
const bearer = { Authorization: `Bearer ${TOKEN}` };
const DRIFT = { json: { list: [], listCount: 'none' } };

let gateway: TestGateway;
let folder: string;
const start = async (
  env: Record<string, string> = { PORTICO_ADMIN_TOKEN: TOKEN },
  more: Readonly<Record<string, unknown>> = {},
) => {
  folder = tempFolder();
  const fake = await startFakeUpstream((request) =>
    request.target.startsWith(LIST) ? DRIFT : exampleResponse(request),
  );
  gateway = await startTestGateway({
    upstream: fake,
    clock: createTestClock(),
    env,
    config: {
      mode: 'staging',
      auditTrail: { file: join(folder, 'overrides-audit.jsonl') },
      contract: { baseline: join(folder, 'baseline.yaml') },
      ...more,
    },
  });
};
const post = (target: string, body: unknown, headers: Record<string, string> = basic) =>
  gateway.admin(target, { method: 'POST', body, headers });
const audit = async (headers: Record<string, string> = bearer) => {
  const { json } = await gateway.admin('/audit', { headers });
  return (json as unknown as { entries: (Omit<AuditEntry, 'at'> & { at: string })[] }).entries;
};
const latest = async () => (await audit())[0];

const who = { actor: 'token', by: 'alice', from: '127.0.0.1' };

describe('the audit trail of the admin side', () => {
  beforeEach(() => start());

  it.each([
    ['/cache/purge', { all: true }, { action: 'purge', way: 'api', subject: { tags: 'all' }, after: { purged: 0 } }],
    ['/console/api/cache/purge', { tag: 'node:1' }, { action: 'purge', way: 'console', subject: { tags: ['node:1'] } }],
    ['/reload', {}, { action: 'reload', way: 'api', after: { changed: [] } }],
    ['/console/api/configuration/reload', {}, { action: 'reload', way: 'console', after: { changed: [] } }],
    [
      '/overrides',
      { operation: 'listIdeas', kind: 'disable', reason: 'INC-17', forMinutes: 5 },
      { action: 'override set', way: 'api', subject: { operation: 'listIdeas' }, after: { reason: 'INC-17' } },
    ],
    [
      '/console/api/try',
      { method: 'POST', target: '/services/v2/question.json', headers: {}, body: '{}' },
      { action: 'try', way: 'console', subject: { method: 'POST' } },
    ],
  ])('records a change with %s %j', async (target, body, entry) => {
    await post(target, body);
    expect(await latest()).toMatchObject({ ...who, outcome: 'done', ...entry });
    expect(gateway.log.join('\n')).not.toContain(TOKEN);
    expect(JSON.stringify(await audit())).not.toContain(TOKEN);
  });

  it('records acceptances with the previous and the new values', async () => {
    await gateway.call(LIST);
    const { json } = await gateway.admin('/console/api/violations', { headers: bearer });
    const [{ fingerprint }] = (json as unknown as { rows: [{ fingerprint: string }] }).rows;
    const at = `/console/api/violations/${fingerprint}`;
    await post(`${at}/accept`, { reason: 'INC-1', owner: 'team' });
    const after = { reason: 'INC-1', owner: 'team' };
    expect(await latest()).toMatchObject({
      ...who,
      action: 'accept',
      outcome: 'done',
      subject: { fingerprint },
      after,
    });
    await post(`${at}/accept`, { reason: 'INC-2', owner: 'team' });
    expect(await latest()).toMatchObject({ before: after, after: { reason: 'INC-2' } });
    await post(`${at}/withdraw`, {});
    expect(await latest()).toMatchObject({ action: 'withdraw', subject: { fingerprint }, before: { reason: 'INC-2' } });
    await post(`${at}/accept`, { reason: 'see Authorization: Bearer abcdefghijklmnop', owner: 'team' });
    expect(await latest()).toMatchObject({ action: 'accept', outcome: 'refused' });
    expect(JSON.stringify(await audit())).not.toContain('abcdefghijklmnop');
  });

  it('records changed and ended overrides', async () => {
    const disable = { operation: 'listIdeas', kind: 'disable', reason: 'INC-17', forMinutes: 5 };
    await post('/overrides', disable);
    await post('/overrides', { ...disable, reason: 'INC-18', by: 'bob' });
    const changed = {
      action: 'override changed',
      by: 'bob',
      before: { reason: 'INC-17' },
      after: { reason: 'INC-18' },
    };
    expect(await latest()).toMatchObject(changed);
    await post('/overrides/end', { operation: 'listIdeas' });
    expect(await latest()).toMatchObject({ ...who, action: 'override ended', before: { reason: 'INC-18' } });
  });

  it('records lifted ladder steps, whether in the console or in the file', async () => {
    await gateway.close();
    const file = join(tempFolder(), 'levels.json');
    await start(undefined, {
      operations: { listIdeas: { checks: { responses: 'enforce' } } },
      levels: { file, demote: { share: 0.5, windowSeconds: 60, minAnswers: 4 } },
      cache: { enabled: false },
    });
    const check = { operation: 'listIdeas', check: 'responses' };
    const demote = async () => {
      for (let index = 0; index < 4; index += 1) expect((await gateway.call(LIST)).status).toBe(502);
      expect((await gateway.call(LIST)).status).toBe(200);
    };
    await demote();
    await post('/console/api/levels/lift', check);
    const lifted = { action: 'lift', outcome: 'done', subject: check };
    expect(await latest()).toMatchObject({ ...lifted, ...who, way: 'console', before: { move: 'demoted' } });
    await post('/console/api/levels/lift', check);
    expect(await latest()).toMatchObject({ ...lifted, ...who, outcome: 'refused' });

    await demote();
    const { store, written, followFile } = levelsIn(gateway.gateway);
    await written();
    await writeLevelsFile(file, { ...store.state(), entries: [] });
    await followFile();
    expect(await latest()).toMatchObject({ ...lifted, actor: 'process', way: 'file', before: { move: 'demoted' } });
  });

  it.each([
    ['/cache/purge', {}, 'purge'],
    ['/overrides', { operation: 'listIdeas' }, 'override set'],
    ['/overrides/end', { operation: 'listIdeas' }, 'override ended'],
    ['/console/api/levels/lift', { operation: 'listIdeas', check: 'responses' }, 'lift'],
    ['/console/api/violations/0000000000000000/accept', { reason: 'a', owner: 'b' }, 'accept'],
    ['/console/api/violations/0000000000000000/withdraw', {}, 'withdraw'],
  ])('records why a change was refused: %s %j', async (target, body, action) => {
    await post(target, body);
    const reason = expect.stringMatching(/\w/) as string;
    expect(await latest()).toMatchObject({ ...who, action, outcome: 'refused', reason });
    expect(gateway.log.some((line) => line.includes(`"action":"${action}"`) && line.includes('127.0.0.1'))).toBe(true);
  });

  it('records when an operator signs in, and each failure to, without the name or the token', async () => {
    await gateway.admin('/console/api/status', { headers: { Authorization: `Basic ${btoa('mallory:guess')}` } });
    await post('/cache/purge', { all: true }, { Authorization: 'Bearer guess' });
    await post('/cache/purge', { all: true }, {});
    await gateway.admin('/console/api/status', { headers: basic });
    await gateway.admin('/console/api/status', { headers: basic });
    const entries = await audit();
    expect(entries.map(({ action, outcome, actor }) => [action, outcome, actor])).toEqual([
      ['sign in', 'done', 'token'],
      ['purge', 'refused', 'unknown'],
      ['sign in', 'refused', 'unknown'],
      ['sign in', 'refused', 'unknown'],
    ]);
    expect(JSON.stringify(entries)).not.toMatch(/mallory|guess/);
  });

  it('records reloads by the program and by a signal, and why they were refused', async () => {
    // The first request with the token is recorded as well.
    await audit();
    await gateway.gateway.reload('signal');
    expect(await latest()).toMatchObject({ action: 'reload', actor: 'process', way: 'signal', outcome: 'done' });
    await gateway.reload({ config: { mode: 'wrong' } }).catch(() => undefined);
    const refused = {
      action: 'reload',
      way: 'program',
      outcome: 'refused',
      reason: expect.stringContaining('mode') as string,
    };
    expect(await latest()).toMatchObject(refused);
  });

  it('contains neither the token as a name nor an operation that does not exist', async () => {
    const headers = { ...basic, Authorization: `Basic ${btoa(`${TOKEN}:${TOKEN}`)}` };
    await post('/console/api/levels/lift', { operation: 'some-secret', check: 'responses' }, headers);
    const [entry] = await audit();
    expect(entry).toMatchObject({ action: 'lift', actor: 'token', subject: { operation: 'unknown' } });
    expect(entry).not.toHaveProperty('by');
    expect(JSON.stringify(await audit())).not.toMatch(new RegExp(`${TOKEN}|some-secret`));
  });

  it('requires the token to be read', async () => {
    expect((await gateway.admin('/audit')).status).toBe(401);
  });
});

it('names changes on loopback without a token', async () => {
  await start({});
  await post('/cache/purge', { all: true }, {});
  await post('/console/api/cache/purge', { all: true }, {});
  expect(await audit({})).toMatchObject([
    { action: 'purge', way: 'console', actor: 'loopback without token', outcome: 'refused' },
    { action: 'purge', way: 'api', actor: 'loopback without token', outcome: 'done' },
  ]);
});

it('can be taken out: nothing is kept, and there is no page', async () => {
  gateway = await startTestGateway({ upstream: await startFakeUpstream(exampleResponse), without: 'auditTrail' });
  expect((await post('/cache/purge', { all: true }, {})).json).toEqual({ purged: 0 });
  expect((await gateway.admin('/audit')).status).toBe(404);
  expect((await gateway.admin('/overrides')).json).toMatchObject({ events: [] });
  expect(await gateway.gateway.services.features.actions()).toEqual([]);
});

describe('the file of the audit trail', () => {
  const trailIn = (file: string) => existsSync(file) && readFileSync(file, 'utf8').includes('"purge"');

  it('is next to the file of overrides if only that one is configured', async () => {
    await start({});
    await post('/cache/purge', { all: true }, {});
    await gateway.close();
    expect(trailIn(join(folder, 'overrides-audit.jsonl'))).toBe(true);
  });

  it('has a key of its own', async () => {
    const file = join(tempFolder(), 'new', 'trail.jsonl');
    await start({}, { auditTrail: { file } });
    await post('/cache/purge', { all: true }, {});
    await gateway.close();
    expect(trailIn(file)).toBe(true);
    expect(existsSync(join(folder, 'overrides-audit.jsonl'))).toBe(false);
    await start({}, { auditTrail: { file } });
    expect((await audit({})).map(({ action }) => action)).toEqual(['purge']);
  });

  it('must be writable if it is configured, and readable', async () => {
    const blocked = join(tempFolder(), 'file');
    writeFileSync(blocked, '');
    const fault = (file: string) => start({}, { auditTrail: { file } }).catch((error: unknown) => error);
    expect(await fault(join(blocked, 'trail.jsonl'))).toMatchObject({
      faults: [{ message: expect.stringContaining('cannot be written') as string }],
    });
    expect(await fault(tempFolder())).toMatchObject({
      faults: [{ message: expect.stringContaining('is not a valid audit trail') as string }],
    });
  });
});
