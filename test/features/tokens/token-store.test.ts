import { join } from 'node:path';
import { expect, it } from 'vitest';
import { basic } from '../../builders/call.ts';
import { exampleResponse } from '../../builders/example-response.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { sharedBy, startFleet } from '../../builders/fleet.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { startRedisServer } from '../../builders/redis-server.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { startTestGateway } from '../../builders/test-gateway.ts';
import { eventually, until } from '../../builders/until.ts';
import { ADMIN_TOKEN, keyFile, QUESTIONS, SCOPE, SERVICE, type TokenGateway, withTokens } from './token-gateway.ts';

needsProgram('redis', 'the tokens of a fleet', (path) => {
  const start = async (count: number, more: object = {}) => {
    const [server, upstream] = [await startRedisServer(path), await startFakeUpstream(exampleResponse)];
    const clock = createTestClock();
    const folder = tempFolder();
    const key = keyFile('tokens', folder);
    const launch = async (size: number, file?: string): Promise<TokenGateway[]> => {
      const config = {
        upstream: { credentials: SERVICE },
        tokens: { keyFile: key, file: file ?? ':memory:' },
        ...more,
      };
      const gateways = await startFleet(size, server, upstream, {
        clock,
        config,
        env: { PORTICO_ADMIN_TOKEN: ADMIN_TOKEN },
      });
      return gateways.map((gateway) => withTokens(gateway, { upstream, clock, file: file ?? '' }));
    };
    return { server, upstream, clock, folder, launch, gateways: await launch(count) };
  };
  const at = (gateways: readonly TokenGateway[], index: number): TokenGateway => {
    const gateway = gateways[index];
    if (gateway === undefined) throw new Error(`there is no gateway ${index}`);
    return gateway;
  };
  const accepts = (gateway: TokenGateway, token: string) => async () =>
    (await gateway.ask(`Bearer ${token}`)).status === 200;
  const refuses = (gateway: TokenGateway, token: string) => async () =>
    (await gateway.ask(`Bearer ${token}`)).status === 401;

  it('are accepted by every gateway, in both forms, and revoked on all', async () => {
    const { gateways } = await start(2);
    const { id, token } = await at(gateways, 0).create();
    await eventually(accepts(at(gateways, 1), token));
    expect((await at(gateways, 1).ask(basic('alice', token))).status).toBe(200);
    // The gateway that revokes refuses the token at once, the others as soon as they know.
    const began = performance.now();
    await at(gateways, 1).change('/revoke', { id });
    expect(await refuses(at(gateways, 1), token)()).toBe(true);
    await eventually(refuses(at(gateways, 0), token));
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  it('move from a file to Redis when a gateway starts, and a file cannot bring back what was revoked', async () => {
    const { launch, folder, gateways } = await start(1);
    const file = join(folder, 'tokens.json');
    const [own] = await launch(1, file);
    if (own === undefined) throw new Error('no gateway');
    const { id, token } = await own.create();
    await eventually(accepts(at(gateways, 0), token));
    await own.gateway.close();
    await at(gateways, 0).change('/revoke', { id });
    const [again] = await launch(1, file);
    if (again === undefined) throw new Error('no gateway');
    expect(await refuses(again, token)()).toBe(true);
  });

  it('are refused with a 503 by a gateway that has not reached Redis since it started, whatever its file contains', async () => {
    const { server, upstream, clock, folder, launch } = await start(1);
    const file = join(folder, 'tokens.json');
    const [first] = await launch(1, file);
    const token = (await first?.create())?.token ?? '';
    await first?.gateway.close();
    await server.stop();
    const gateway = await startTestGateway({
      upstream,
      clock,
      config: {
        redis: { url: server.url, connectTimeoutMs: 2000, commandTimeoutMs: 2000 },
        upstream: { credentials: SERVICE },
        tokens: { keyFile: keyFile('tokens', folder), file },
      },
    });
    const late = withTokens(gateway, { upstream, clock, file });
    expect((await late.ask(`Bearer ${token}`)).status).toBe(503);
    await server.start();
    await eventually(accepts(late, token));
  });

  it('are refused with a 503 by a gateway that cannot know what was revoked, until it can again', async () => {
    const { server, gateways, clock } = await start(1);
    const only = at(gateways, 0);
    const { token } = await only.create();
    expect(await accepts(only, token)()).toBe(true);
    await server.stop();
    await until(() => !sharedBy(only.gateway).redis.isAvailable());
    expect((await only.ask(`Bearer ${token}`)).status).toBe(200);
    clock.advance(121);
    const { reply } = await only.ask(`Bearer ${token}`);
    expect([reply.status, reply.json.code]).toEqual([503, 'verification_unavailable']);
    // Passwords do not depend on it.
    expect((await only.gateway.call(QUESTIONS, { user: 'alice' })).status).toBe(200);
    await server.start();
    await eventually(accepts(only, token));
  });

  it('are not changed by whoever can write to Redis, but has no key', async () => {
    const { gateways } = await start(2);
    const { token } = await at(gateways, 0).create();
    await eventually(accepts(at(gateways, 1), token));
    const { redis } = sharedBy(at(gateways, 0).gateway);
    const key = redis.key('documents', 'tokens');
    const stored = String(await redis.command(key, ['HGET', key, 'text']));
    const planted = stored.replace('"caller": "alice"', '"caller": "admin"').replace(SCOPE[0] ?? '', 'View analytics');
    expect(planted).not.toBe(stored);
    await redis.command(key, ['HSET', key, 'version', 'planted', 'text', planted]);
    // A change makes the gateways read the document again.
    const { id } = await at(gateways, 0).create();
    await eventually(async () => (await at(gateways, 1).list()).some((one) => one.id === id));
    for (const gateway of gateways) {
      expect((await gateway.ask(`Bearer ${token}`, '/services/v2/group/7/user.json')).status).not.toBe(200);
      expect((await gateway.list()).map((one) => one.for)).not.toContain('admin');
    }
  });
});
