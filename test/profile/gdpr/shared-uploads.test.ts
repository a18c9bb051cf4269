import { describe, expect, it, beforeAll } from 'vitest';
import { redisUploadClaims } from '../../../src/profile/gdpr/redis-upload-claims.ts';
import { shareUploads, type UploadClaims } from '../../../src/profile/gdpr/shared-uploads.ts';
import { createUploadMemory, type UploadMemory, uploadKey } from '../../../src/profile/gdpr/upload-memory.ts';
import { exampleAnswer } from '../../builders/example-answer.ts';
import { type FakeUpstream, startFakeUpstream } from '../../builders/fake-upstream.ts';
import { sharedBy, startFleet } from '../../builders/fleet.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { type RedisServer, startRedisServer } from '../../builders/redis-server.ts';
import { createTestClock } from '../../builders/test-clock.ts';

const attempt = {
  caller: 'user admin',
  content: Buffer.from('{"content":"username\\nalice"}'),
  force: false,
  windowMs: 600_000,
};
const ownMemory = () => createUploadMemory(createTestClock());

/** Begins an upload and, unless it is a duplicate, finishes it with a status. */
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
    expect(uploadKey({ ...attempt, content: Buffer.from('{}') })).not.toBe(uploadKey(attempt));
  });

  it('are refused if another process forwards or has forwarded the same', async () => {
    const primary = ownMemory();
    const claims: UploadClaims = {
      claim: (_key, { force }) => Promise.resolve(primary.begin({ ...attempt, force })),
    };
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
      shareUploads(ownMemory(), redisUploadClaims(sharedBy(gateway).redis)),
    );
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
