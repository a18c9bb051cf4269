import { describe, expect, it } from 'vitest';
import { exampleResponse } from '../builders/example-response.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

const QUESTIONS = '/services/v2/question.json';
const UNDOCUMENTED = '/services/v2/badge.json';

/**
 * Limits that every request exceeds. Outside `observe` mode, the first request would time out, and all others would be
 * refused immediately.
 */
const TIGHT = {
  connectTimeoutMs: 1,
  headersTimeoutMs: 1,
  bodyTimeoutMs: 1,
  totalTimeoutMs: 1,
  clientTimeoutMs: 1,
  concurrency: 1,
  queue: 0,
  queueTimeoutMs: 1,
  streams: { total: 1, perCaller: 1, perAddress: 1 },
};

const EXCEEDED = 'portico_upstream_limits_exceeded_total';

async function overLimits(gateway: TestGateway): Promise<string[]> {
  const { records: ledger } = gateway.gateway.services;
  await ledger.flush();
  const { entries } = await ledger.snapshot();
  return entries
    .flatMap(({ keyword, count }) => (keyword.startsWith('over-limit') ? `${keyword} ${count}` : []))
    .toSorted();
}

describe('a slow upstream in observe mode', () => {
  it('sends 40 responses after 12 seconds, as without Portico, and the exceeded limits are counted', async () => {
    const clock = createTestClock();
    const fake = await startFakeUpstream(() => undefined);
    const together = Promise.withResolvers<void>();
    fake.handler = async (request) => {
      // No response is sent until all requests have arrived, so no request can have waited for another.
      await together.promise;
      return request.path === QUESTIONS ? exampleResponse(request) : { json: { badges: [] } };
    };
    const gateway = await startTestGateway({ upstream: fake, real: true, clock, config: { upstream: TIGHT } });
    const targets = Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? QUESTIONS : UNDOCUMENTED));
    const replies = targets.map((target) => gateway.call(target));
    await fake.received(40);
    clock.advance(12);
    together.resolve();
    const got = await Promise.all(replies);
    expect(got.map(({ status, complete }) => [status, complete])).toEqual(targets.map(() => [200, true]));
    for (const { headers } of got) await gateway.lineOf(String(headers['x-request-id']));
    expect(await gateway.metric(EXCEEDED)).toBe(40);
    const counts = await overLimits(gateway);
    expect(counts.map((line) => line.split(' ')[0])).toEqual(
      expect.arrayContaining(['over-limit-deadline', 'over-limit-shed']),
    );
    expect(counts.reduce((sum, line) => sum + Number(line.split(' ')[1]), 0)).toBe(40);
  });

  it('is asked again after any number of failures, and the requests that would have been paused are counted', async () => {
    const fake = await startFakeUpstream((_, response) => void response.destroy());
    const config = { upstream: { circuit: { failures: 3, openSeconds: 60 } } };
    const gateway = await startTestGateway({ upstream: fake, real: true, config });
    for (let at = 0; at < 10; at += 1)
      await gateway.call(UNDOCUMENTED, { method: 'POST', body: '{}' }).catch(() => undefined);
    expect(fake.requests).toHaveLength(10);
    expect(await gateway.metric(EXCEEDED)).toBe(7);
  });

  it('is not counted if it is fast', async () => {
    const fake = await startFakeUpstream(exampleResponse);
    const gateway = await startTestGateway({ upstream: fake, real: true });
    for (let at = 0; at < 10; at += 1) expect((await gateway.call(QUESTIONS)).status).toBe(200);
    expect(await gateway.metric(EXCEEDED)).toBe(0);
    expect(await overLimits(gateway)).toEqual([]);
  });
});
