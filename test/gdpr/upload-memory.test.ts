import { describe, expect, it, beforeAll } from 'vitest';
import {
  redisUploadClaims,
  shareUploads,
  type UploadClaims,
  createUploadMemory,
  type UploadAttempt,
  type UploadMemory,
  uploadKey,
} from '../../src/gdpr/upload-memory.ts';
import { exampleAnswer } from '../builders/example-answer.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { sharedBy, startFleet } from '../builders/fleet.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { type RedisServer, startRedisServer } from '../builders/redis-server.ts';
import { createTestClock } from '../builders/test-clock.ts';

const body = Buffer.from('{"content":"email\\na@example.org"}');

function memoryAt(now: number, duplicateWindowSeconds = 600) {
  const time = { now };
  const memory = createUploadMemory(() => time.now, { duplicateWindowSeconds });
  const begin = (changes: Partial<UploadAttempt> = {}) =>
    memory.begin({ caller: 'admin', body, force: false, ...changes });
  const upload = (status: number | undefined, changes: Partial<UploadAttempt> = {}) => {
    const verdict = begin(changes);
    if (verdict.verdict === 'first') verdict.finish(status);
    return verdict.verdict;
  };
  return { time, begin, upload };
}

describe('a repeated upload', () => {
  it('of the same caller and body is a duplicate after a 2xx inside the window', () => {
    const { upload, begin } = memoryAt(1_000_000);
    expect(upload(201)).toBe('first');
    expect(begin()).toEqual({ verdict: 'duplicate', because: 'accepted' });
  });

  it('of another caller or another body is not a duplicate', () => {
    const { upload } = memoryAt(1_000_000);
    upload(201);
    expect(upload(201, { caller: 'root' })).toBe('first');
    expect(upload(201, { body: Buffer.from('{}') })).toBe('first');
  });

  it.each([400, 403, 500, 302, undefined])('is not a duplicate after %s', (status) => {
    const { upload } = memoryAt(1_000_000);
    upload(status);
    expect(upload(201)).toBe('first');
  });

  it('is not a duplicate after the window', () => {
    const { upload, time } = memoryAt(1_000_000);
    upload(201);
    time.now += 599_999;
    expect(upload(201)).toBe('duplicate');
    time.now += 1;
    expect(upload(201)).toBe('first');
  });

  // If only the elapsed time counted and the clock were set back, the upload would remain a duplicate until the clock
  // reached its earlier time again.
  it('is not a duplicate after the clock is set back by more than the window', () => {
    const { upload, time } = memoryAt(1_000_000);
    upload(201);
    time.now -= 599_999;
    expect(upload(201)).toBe('duplicate');
    time.now -= 1;
    expect(upload(201)).toBe('first');
  });

  it('is a duplicate even if the first came at time 0', () => {
    const { upload, time } = memoryAt(0);
    upload(201);
    expect(upload(201)).toBe('duplicate');
    time.now = 600_000;
    expect(upload(201)).toBe('first');
  });

  it('is a duplicate while the first is in progress', () => {
    const { begin } = memoryAt(1_000_000);
    const first = begin();
    expect(begin()).toEqual({ verdict: 'duplicate', because: 'in flight' });
    if (first.verdict === 'first') first.finish(500);
    expect(begin().verdict).toBe('first');
  });

  it('is allowed with Portico-Force', () => {
    const { begin, upload } = memoryAt(1_000_000);
    const first = begin();
    expect(begin({ force: true }).verdict).toBe('first');
    if (first.verdict === 'first') first.finish(201);
    expect(upload(201, { force: true })).toBe('first');
  });

  it('that is forced and fails does not clear the accepted one', () => {
    const { upload } = memoryAt(1_000_000);
    upload(201);
    upload(500, { force: true });
    expect(upload(201)).toBe('duplicate');
  });

  it('counts each upload in progress once, however often it is finished', () => {
    const { begin } = memoryAt(1_000_000);
    const first = begin();
    const forced = begin({ force: true });
    if (first.verdict === 'first') {
      first.finish(500);
      first.finish(500);
    }
    expect(begin()).toEqual({ verdict: 'duplicate', because: 'in flight' });
    if (forced.verdict === 'first') forced.finish(500);
    expect(begin().verdict).toBe('first');
  });

  it('is never a duplicate with a window of 0', () => {
    const { upload, begin } = memoryAt(1_000_000, 0);
    upload(201);
    begin();
    expect(begin().verdict).toBe('first');
  });
});

const options = { duplicateWindowSeconds: 600 };
const attempt = { caller: 'user admin', body: Buffer.from('{"content":"username\\nalice"}'), force: false };
const ownMemory = () => createUploadMemory(createTestClock(), options);

/** Begins an upload and, if it is not a duplicate, ends it with a status. */
async function uploadTo(memory: UploadMemory, status: number | undefined, force = false): Promise<string> {
  const begun = await memory.begin({ ...attempt, force });
  if (begun.verdict === 'duplicate') return begun.because;
  begun.finish(status);
  return 'first';
}

describe('uploads that several processes share', () => {
  it('are recognized by a hash, which contains neither the name nor the content', () => {
    expect(uploadKey(attempt)).toMatch(/^[\w-]{43}$/);
    expect(uploadKey({ ...attempt, caller: 'user root' })).not.toBe(uploadKey(attempt));
    expect(uploadKey({ ...attempt, body: Buffer.from('{}') })).not.toBe(uploadKey(attempt));
  });

  it('are refused if another process forwards or has forwarded the same', async () => {
    const primary = ownMemory();
    const claims: UploadClaims = { claim: (key, force) => Promise.resolve(primary.claim(key, force)) };
    const [one, other] = [shareUploads(ownMemory(), claims), shareUploads(ownMemory(), claims)];
    const running = await one.begin(attempt);
    expect(await uploadTo(other, 201)).toBe('in flight');
    if (running.verdict === 'first') running.finish(500);
    expect(await uploadTo(other, 201)).toBe('first');
    expect([await uploadTo(one, 201), await uploadTo(other, 201)]).toEqual(['accepted', 'accepted']);
    expect(await uploadTo(one, 201, true)).toBe('first');
  });

  it('count in each process separately while the others cannot be reached', async () => {
    const away: UploadClaims = { claim: () => Promise.reject(new Error('away')) };
    const [one, other] = [shareUploads(ownMemory(), away), shareUploads(ownMemory(), away)];
    expect([await uploadTo(one, 201), await uploadTo(one, 201), await uploadTo(other, 201)]).toEqual([
      'first',
      'accepted',
      'first',
    ]);
  });
});

needsProgram('redis', 'uploads through several gateways', (path) => {
  let server: RedisServer;
  let upstream: FakeUpstream;
  beforeAll(async () => {
    server = await startRedisServer(path);
    upstream = await startFakeUpstream(exampleAnswer);
  });

  it('are refused by every gateway, and are recognized again after a failed one', async () => {
    const gateways = await startFleet(2, server, upstream);
    const [one, other] = gateways.map((gateway) =>
      shareUploads(ownMemory(), redisUploadClaims(sharedBy(gateway).redis, options)),
    );
    if (one === undefined || other === undefined) throw new Error('no gateways');
    const running = await one.begin(attempt);
    expect(await uploadTo(other, 201)).toBe('in flight');
    // A forced upload does not end the claim of the upload that is in progress.
    expect(await uploadTo(other, 500, true)).toBe('first');
    expect(await uploadTo(other, 201)).toBe('in flight');
    if (running.verdict === 'first') running.finish(500);
    await expect.poll(() => uploadTo(other, 201)).toBe('first');
    await expect.poll(() => uploadTo(one, 201)).toBe('accepted');
    const keys = (await sharedBy(gateways[0] as never).redis.command('', ['KEYS', '*upload*'])) as string[];
    expect(keys.join()).not.toMatch(/admin|alice/);
    await server.stop();
    expect(await uploadTo(one, 201)).toBe('first');
  });
});
