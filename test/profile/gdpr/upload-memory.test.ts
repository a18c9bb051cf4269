import { beforeAll, describe, expect, it } from 'vitest';
import { openAlone } from '../../../src/engine/sharing/alone/open-alone.ts';
import {
  createUploadMemory,
  type UploadAttempt,
  uploadKey,
  type UploadMemory,
} from '../../../src/profile/gdpr/upload-memory.ts';
import { exampleResponse } from '../../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../../builders/fake-upstream.ts';
import { sharedBy, startFleet } from '../../builders/fleet.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { type RedisServer, startRedisServer } from '../../builders/redis-server.ts';

const content = Buffer.from('{"content":"email\\na@example.org"}');

function memoryAt(now: number, duplicateWindowSeconds = 600) {
  const time = { now };
  const memory = createUploadMemory(openAlone(() => time.now).claims('upload'));
  const begin = (changes: Partial<UploadAttempt> = {}) =>
    memory.begin({ caller: 'admin', content, force: false, windowMs: duplicateWindowSeconds * 1000, ...changes });
  const upload = async (status: number | undefined, changes: Partial<UploadAttempt> = {}) => {
    const verdict = await begin(changes);
    if (verdict.verdict === 'first') verdict.finish(status);
    return verdict.verdict;
  };
  return { time, begin, upload };
}

describe('a repeated upload', () => {
  it('of the same caller and body is a duplicate after a 2xx inside the window', async () => {
    const { upload, begin } = memoryAt(1_000_000);
    expect(await upload(201)).toBe('first');
    expect(await begin()).toEqual({ verdict: 'duplicate', because: 'accepted' });
  });

  it('of another caller or another body is not a duplicate', async () => {
    const { upload } = memoryAt(1_000_000);
    await upload(201);
    expect(await upload(201, { caller: 'root' })).toBe('first');
    expect(await upload(201, { content: Buffer.from('{}') })).toBe('first');
  });

  it.each([400, 403, 500, 302, undefined])('is not a duplicate after %s', async (status) => {
    const { upload } = memoryAt(1_000_000);
    await upload(status);
    expect(await upload(201)).toBe('first');
  });

  it('is not a duplicate after the window', async () => {
    const { upload, time } = memoryAt(1_000_000);
    await upload(201);
    time.now += 599_999;
    expect(await upload(201)).toBe('duplicate');
    time.now += 1;
    expect(await upload(201)).toBe('first');
  });

  // If the check considered only the elapsed time, an upload would remain a duplicate after the clock was set back,
  // until the clock caught up.
  it('is not a duplicate after the clock is set back by more than the window', async () => {
    const { upload, time } = memoryAt(1_000_000);
    await upload(201);
    time.now -= 599_999;
    expect(await upload(201)).toBe('duplicate');
    time.now -= 1;
    expect(await upload(201)).toBe('first');
  });

  it('is a duplicate even if the first came at time 0', async () => {
    const { upload, time } = memoryAt(0);
    await upload(201);
    expect(await upload(201)).toBe('duplicate');
    time.now = 600_000;
    expect(await upload(201)).toBe('first');
  });

  it('is a duplicate while the first is in progress', async () => {
    const { begin } = memoryAt(1_000_000);
    const first = await begin();
    expect(await begin()).toEqual({ verdict: 'duplicate', because: 'in flight' });
    if (first.verdict === 'first') first.finish(500);
    expect((await begin()).verdict).toBe('first');
  });

  it('is allowed with Portico-Force', async () => {
    const { begin, upload } = memoryAt(1_000_000);
    const first = await begin();
    expect((await begin({ force: true })).verdict).toBe('first');
    if (first.verdict === 'first') first.finish(201);
    expect(await upload(201, { force: true })).toBe('first');
  });

  it('that is forced and fails does not clear the accepted one', async () => {
    const { upload } = memoryAt(1_000_000);
    await upload(201);
    await upload(500, { force: true });
    expect(await upload(201)).toBe('duplicate');
  });

  it('counts each upload in progress once, however often it is finished', async () => {
    const { begin } = memoryAt(1_000_000);
    const first = await begin();
    const forced = await begin({ force: true });
    if (first.verdict === 'first') {
      first.finish(500);
      first.finish(500);
    }
    expect(await begin()).toEqual({ verdict: 'duplicate', because: 'in flight' });
    if (forced.verdict === 'first') forced.finish(500);
    expect((await begin()).verdict).toBe('first');
  });

  it('is never a duplicate with a window of 0', async () => {
    const { upload, begin } = memoryAt(1_000_000, 0);
    await upload(201);
    await begin();
    expect((await begin()).verdict).toBe('first');
  });
});

const attempt = {
  caller: 'user admin',
  content: Buffer.from('{"content":"username\\nalice"}'),
  force: false,
  windowMs: 600_000,
};

/** Begins an upload and, unless it is a duplicate, finishes it with a status. */
async function uploadTo(memory: UploadMemory, status: number | undefined, force = false): Promise<string> {
  const begun = await memory.begin({ ...attempt, force });
  if (begun.verdict === 'duplicate') return begun.because;
  begun.finish(status);
  return 'first';
}

describe('an upload', () => {
  it('is recognized by a hash, which contains neither the name nor the content', () => {
    expect(uploadKey(attempt)).toMatch(/^[\w-]{43}$/);
    expect(uploadKey({ ...attempt, caller: 'user root' })).not.toBe(uploadKey(attempt));
    expect(uploadKey({ ...attempt, content: Buffer.from('{}') })).not.toBe(uploadKey(attempt));
  });
});

needsProgram('redis', 'uploads through several gateways', (path) => {
  let server: RedisServer;
  let upstream: FakeUpstream;
  beforeAll(async () => {
    server = await startRedisServer(path);
    upstream = await startFakeUpstream(exampleResponse);
  });

  it('are refused by every gateway, and are recognized again after a failed one', async () => {
    const gateways = await startFleet(2, server, upstream);
    const [one, other] = gateways.map((gateway) => createUploadMemory(sharedBy(gateway).claims('upload')));
    if (one === undefined || other === undefined) throw new Error('no gateways');
    const running = await one.begin(attempt);
    expect(await uploadTo(other, 201)).toBe('in flight');
    // A forced upload does not end the claim held by the upload in progress.
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
