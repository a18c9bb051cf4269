import { beforeAll, expect, it } from 'vitest';
import { exampleAnswer } from '../builders/example-answer.ts';
import { type FakeAnswer, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { type RedisServer, startRedisServer } from '../builders/redis-server.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { runInProcess } from '../cli/run-in-process.ts';

const LIST = '/services/v2/idea.json';
const DRIFT: FakeAnswer = { json: { list: [], listCount: 'none' } };

needsProgram('redis', 'the records of a fleet', (path) => {
  let server: RedisServer;
  let fake: FakeUpstream;
  let drift: FakeAnswer | undefined;
  beforeAll(async () => {
    server = await startRedisServer(path);
    fake = await startFakeUpstream((request) => drift ?? exampleAnswer(request));
  });
  let fleets = 0;
  /** Starts gateways with the same prefix in Redis. */
  const fleet = async (names: readonly string[], more: object = {}): Promise<TestGateway[]> => {
    const redis = { url: server.url, prefix: `fleet${(fleets += 1)}` };
    const start = (instance: string) =>
      startTestGateway({
        upstream: fake,
        config: { instance, redis, ledger: { store: 'redis' }, cache: { enabled: false }, ...more },
      });
    return Promise.all(names.map(start));
  };
  const report = async (...flags: string[]) => {
    const env = { REDIS_URL: server.url, UPSTREAM_URL: fake.url, PORTICO_CONFIG: '' };
    const { code, out, err } = await runInProcess(['report', '--format', 'json', ...flags], env);
    return { code, err, json: out === '' ? undefined : (JSON.parse(out) as Record<string, unknown>) };
  };

  it('are added up in one ledger, which commands read without a gateway', async () => {
    const redis = { url: server.url };
    const [a, b] = await fleet(['a', 'b'], { redis });
    drift = DRIFT;
    for (const gateway of [a, a, b]) await gateway?.call(LIST);
    for (const gateway of [a, b]) await gateway?.gateway.services.ledger.flush();
    const { json } = await report();
    expect(json).toMatchObject({
      requests: 3,
      violations: expect.arrayContaining([
        expect.objectContaining({ operation: 'listIdeas', at: '/listCount', count: 3, callers: 1 }),
      ]) as unknown,
    });
  });

  it('are not read by a command if Redis cannot be reached, which the command reports', async () => {
    const env = { REDIS_URL: 'redis://127.0.0.1:1', UPSTREAM_URL: fake.url };
    const { code, err } = await runInProcess(['report'], env);
    expect(code).toBe(1);
    expect(err).toContain('the server cannot be reached, so the ledger cannot be read');
  });
});
