import { Type } from 'typebox';
import { afterEach, expect, it } from 'vitest';
import { GatewayError } from '../../src/engine/errors/gateway-error.ts';
import type { Feature, FeatureContext } from '../../src/engine/feature.ts';
import type { TakenRequest } from '../../src/engine/http/public-handler.ts';
import { basic } from '../builders/call.ts';
import { fastHash } from '../builders/fast-roles.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../builders/test-gateway.ts';

const running: TestGateway[] = [];
afterEach(() => Promise.all(running.splice(0).map((one) => one.close())));

/** Starts a gateway with a feature that serves `/own/…`. */
async function start(
  serve: (request: TakenRequest, end: (text: string) => void) => Promise<void>,
  more: Partial<TestGatewayOptions> = {},
) {
  const upstream = await startFakeUpstream(exampleResponse);
  const given: { context?: FeatureContext<unknown> } = {};
  const feature = {
    name: 'own',
    options: Type.Object({}, { default: {}, description: 'A feature of the test.' }),
    start(context) {
      given.context = context;
      return {
        middleware: [
          (req, res, next, gateway) => {
            const request = gateway.take(req, res);
            if (request?.path.startsWith('/own/') !== true) next();
            else void serve(request, (text) => res.end(text)).catch(request.refuse);
          },
        ],
      };
    },
  } as const satisfies Feature;
  const gateway = await startTestGateway({ upstream, features: [feature], ...more });
  running.push(gateway);
  const { context } = given;
  if (context === undefined) throw new Error('the feature was not started');
  return { gateway, upstream, context };
}

it('a feature can serve a path of its own, with the callers and headers of all others', async () => {
  const { gateway } = await start(async (request, end) => {
    const caller = await request.authenticate();
    request.begin(200, ['Content-Type', 'text/plain']);
    end(
      `${request.method} ${request.path}?${request.query} ${request.header('x-own')} ${caller.mayUse('listActions')}`,
    );
  });
  const served = await gateway.call('/own/path?a=1', { headers: { 'X-Own': 'header', 'X-Request-Id': 'id-1' } });
  expect(served).toMatchObject({ status: 200, text: 'GET /own/path?a=1 header true' });
  expect(served.headers['x-request-id']).toBe('id-1');
  expect(await gateway.lineOf('id-1')).toMatchObject({ status: 200 });
  expect((await gateway.call('/own/path', { user: 'alice' })).text).toMatch(/ false$/);
  expect((await gateway.call('/own/path', { user: null })).headers['www-authenticate']).toMatch(/^Basic /);
  expect((await gateway.call('/own/path', { user: 'alice', password: 'wrong' })).status).toBe(401);
  expect((await gateway.call('/services/v2/question.json')).status).toBe(200);
  expect((await gateway.call('/own/../services')).json.code).toBe('unsafe_path');
});

it('a feature can refuse a request with an error of the catalogue', async () => {
  const { gateway } = await start(async () => {
    await Promise.resolve();
    throw new GatewayError('permission_denied', 'Not today.');
  });
  const refused = await gateway.call('/own/path', { headers: { 'X-Request-Id': 'id-2' } });
  expect(refused).toMatchObject({ status: 403, json: { error: 'Not today.', code: 'permission_denied' } });
  expect(await gateway.lineOf('id-2')).toMatchObject({ status: 403, error: 'permission_denied' });
});

it('a caller is authenticated again with the configuration in use', async () => {
  const taken: TakenRequest[] = [];
  const { gateway } = await start(async (request, end) => {
    taken.push(request);
    await request.authenticate();
    request.begin(200, []);
    end('');
  });
  await gateway.call('/own/path', { user: 'alice' });
  const [request] = taken;
  const may = async () => (await request?.authenticate())?.mayUse('listQuestions');
  expect(await may()).toBe(true);
  const passwordHash = await fastHash('alice');
  const roles = (permissions: readonly string[]) =>
    JSON.stringify({
      roles: { anonymous: { permissions: [] }, reader: { permissions } },
      accounts: [{ name: 'alice', demo: true, roles: ['reader'], passwordHash }],
    });
  expect(await gateway.reload({ roles: roles([]) })).toMatchObject({ outcome: 'applied' });
  expect(await may()).toBe(false);
  expect(await gateway.reload({ roles: roles(['View the questions list']) })).toMatchObject({ outcome: 'applied' });
  expect(await may()).toBe(true);
});

it('a feature knows what an account may do, and asks the upstream with headers of the gateway only', async () => {
  const { upstream, context } = await start(async () => Promise.resolve());
  expect(['listQuestions', 'listActions', 'nothing'].map((id) => context.mayUse('alice', id))).toEqual([
    true,
    false,
    false,
  ]);
  expect(context.mayUse('admin', 'listActions')).toBe(true);
  const { signal } = new AbortController();
  const response = await context.ask('/services/v2/question.json?page=2', { authorization: basic('feed'), signal });
  expect(response?.status).toBe(200);
  const [sent] = upstream.requests;
  expect(sent).toMatchObject({ target: '/services/v2/question.json?page=2', user: 'feed' });
  expect(Object.keys(sent?.headers ?? {}).toSorted()).toEqual([
    'accept',
    'accept-encoding',
    'authorization',
    'connection',
    'content-type',
    'host',
    'traceparent',
    'via',
    'x-request-id',
  ]);
  expect(context.ask('no path', { authorization: basic('feed'), signal })).toBeUndefined();
});

it('a feature learns that the gateway has begun to close', async () => {
  const { gateway, context } = await start(async () => Promise.resolve());
  expect(context.gateway().isClosing()).toBe(false);
  const closing = gateway.close();
  expect(context.gateway().isClosing()).toBe(true);
  await closing;
});
