import { expect, it } from 'vitest';
import { exampleResponse } from '../../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../../builders/fake-upstream.ts';
import { sharedBy } from '../../builders/fleet.ts';
import { knowing } from '../../builders/knowing-upstream.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { EXAMPLE_IDS, operationOf } from '../../builders/operations.ts';
import { startRedisServer } from '../../builders/redis-server.ts';
import { startTestGateway, type TestGateway } from '../../builders/test-gateway.ts';
import { eventually, until } from '../../builders/until.ts';

const TOKEN = 'the-admin-token';
const bearer = { Authorization: `Bearer ${TOKEN}` };
const QUESTIONS = '/services/v2/question.json';
const FAVORITE = operationOf('unmarkFavorite').target(EXAMPLE_IDS);

const startServer = (name: string): Promise<FakeUpstream> =>
  startFakeUpstream(
    knowing((request) => {
      const { json, ...given } = exampleResponse(request);
      return { ...given, json: typeof json === 'object' && json !== null && 'list' in json ? { ...json, name } : json };
    }),
  );

needsProgram('redis', 'a fleet during a cut-over', (path) => {
  const startAll = async (cutover: object) => {
    const redis = await startRedisServer(path);
    const [old, fresh] = await Promise.all([startServer('old'), startServer('new')]);
    const start = () =>
      startTestGateway({
        upstream: old,
        real: true,
        env: { PORTICO_ADMIN_TOKEN: TOKEN },
        config: {
          mode: 'strict',
          redis: { url: redis.url },
          cutover: { url: fresh.url, file: ':memory:', ...cutover },
        },
      });
    const gateways = await Promise.all([start(), start()]);
    await until(() => gateways.every((one) => sharedBy(one).changes.position() !== undefined));
    return { gateways, old, fresh, redis };
  };
  const sideOf = async (gateway: TestGateway, user: string, target = QUESTIONS) =>
    ((await gateway.call(target, { user, password: user })).json as { readonly name?: string } | undefined)?.name;
  const post = (gateway: TestGateway, action: string, body: object) =>
    gateway.admin(`/cutover/${action}`, { method: 'POST', headers: bearer, body });

  it('follows a decision that was made at one gateway, and a gateway that starts later knows it', async () => {
    const { gateways, old, fresh, redis } = await startAll({ operations: { '*': { share: 0 } } });
    const [first, second] = gateways;
    expect((await post(first, 'set', { operation: '*', share: 100, by: 'ann' })).json).toMatchObject({ stored: true });
    await eventually(async () => (await sideOf(second, 'bob')) === 'new');
    const third = await startTestGateway({
      upstream: old,
      real: true,
      config: {
        mode: 'strict',
        redis: { url: redis.url },
        cutover: { url: fresh.url, file: ':memory:', operations: { '*': { share: 0 } } },
      },
    });
    await eventually(async () => (await sideOf(third, 'carol')) === 'new');
  });

  it('lets a caller who has written at one gateway stay at the other one', async () => {
    const { gateways } = await startAll({ operations: { '*': { share: 100 } } });
    const [first, second] = gateways;
    expect(await sideOf(second, 'bob')).toBe('new');
    await first.call(FAVORITE, { method: 'PUT', user: 'bob', password: 'bob' });
    await until(() => sharedBy(second).changes.position()?.number === sharedBy(first).changes.position()?.number);
    expect(await sideOf(first, 'bob')).toBe('old');
    expect(await sideOf(second, 'bob')).toBe('old');
    expect(await sideOf(second, 'carol')).toBe('new');
  });

  it('returns as a whole within a second when one gateway sees that the new server fails', async () => {
    const { gateways, fresh } = await startAll({ operations: { '*': { share: 100 } }, return: { minimum: 20 } });
    const [first, second] = gateways;
    expect(await sideOf(second, 'bob')).toBe('new');
    fresh.handler = knowing(() => ({ status: 500, json: { error: 'broken' } }));
    for (let index = 0; index < 20; index += 1) await sideOf(first, 'bob', `${QUESTIONS}?sort=s${index}`);
    const brokenAt = performance.now();
    await eventually(async () => (await sideOf(second, 'dora')) === 'old');
    expect(performance.now() - brokenAt).toBeLessThan(1000);
    expect(await sideOf(second, 'bob')).toBe('old');
  });
});
