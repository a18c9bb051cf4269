import { expect, it } from 'vitest';
import type { Feature, RunningFeature } from '../../src/engine/feature.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway } from '../builders/test-gateway.ts';

it('goes back to the configuration in use if a reload fails when requests already use the new one', async () => {
  const used: number[] = [];
  let isBroken = false;
  const late: Feature = {
    name: 'late',
    dependsOn: ({ pageBounds }) => pageBounds,
    start: ({ settings }) => ({
      use() {
        if (isBroken && settings.pageBounds.maxPageSize === 7) throw new Error('too late');
        used.push(settings.pageBounds.maxPageSize);
      },
      close: () => void used.push(-settings.pageBounds.maxPageSize),
    }),
  };
  const gateway = await startTestGateway({ upstream: await startFakeUpstream(exampleResponse), features: [late] });
  const { services } = gateway.gateway;
  const config = { pageBounds: { maxPageSize: 7 }, upstream: { totalTimeoutMs: 9000 }, logging: { level: 'error' } };
  isBroken = true;
  expect(await gateway.reload({ config })).toMatchObject({ outcome: 'refused' });
  expect(gateway.gateway.services).toBe(services);
  expect(services.upstreams.current).toBe(services.upstream);
  expect(services.logger.level).toBe('info');
  expect((await gateway.call('/services/v2/question.json?pageSize=50')).status).toBe(200);
  isBroken = false;
  expect(await gateway.reload({ config })).toMatchObject({ outcome: 'applied' });
  expect((await gateway.call('/services/v2/question.json?pageSize=50')).status).toBe(400);
  // The first configuration is used at the start and after the failure.
  expect(used).toEqual([100, 100, -7, 7, -100]);
});

it('goes back after a refused reload even if one of the services cannot', async () => {
  const used: number[] = [];
  let isBroken = false;
  const feature = (name: string, use: (size: number) => void): Feature => ({
    name,
    dependsOn: ({ pageBounds }) => pageBounds,
    start: ({ settings }) => ({ use: () => use(settings.pageBounds.maxPageSize) }),
  });
  const stuck = feature('stuck', () => {
    if (isBroken) throw new Error('stuck');
  });
  const other = feature('other', (size) => void used.push(size));
  const upstream = await startFakeUpstream(exampleResponse);
  const gateway = await startTestGateway({ upstream, features: [stuck, other] });
  isBroken = true;
  expect(await gateway.reload({ config: { pageBounds: { maxPageSize: 7 } } })).toMatchObject({ outcome: 'refused' });
  expect(used).toEqual([100, 100]);
});

it('refuses a configuration that the listeners cannot use, and the one in use stays in use entirely', async () => {
  const closed: number[] = [];
  const unmountable: Feature = {
    name: 'unmountable',
    dependsOn: ({ pageBounds }) => pageBounds,
    start: ({ settings: { pageBounds } }) => ({
      adminRoutes: [
        {
          // Express cannot parse the path of the new configuration.
          path: pageBounds.maxPageSize === 7 ? '/:' : '/size',
          access: 'anyone',
          handler: (_req, res) => void res.json(pageBounds.maxPageSize),
        },
      ],
      close: () => void closed.push(pageBounds.maxPageSize),
    }),
  };
  const gateway = await startTestGateway({
    upstream: await startFakeUpstream(exampleResponse),
    features: [unmountable],
  });
  const { services } = gateway.gateway;
  const size = async () => (await gateway.admin('/size')).json;
  const listed = async () => (await gateway.call('/services/v2/question.json?pageSize=50')).status;
  const refused = await gateway.reload({ config: { pageBounds: { maxPageSize: 7 } } });
  expect(refused).toMatchObject({ outcome: 'refused', faults: [{ message: /the log contains the reason/ }] });
  expect(gateway.log.filter((line) => line.includes('"msg":"the reload failed"'))).toHaveLength(1);
  expect(gateway.gateway.services).toBe(services);
  expect([await size(), await listed(), closed]).toEqual([100, 200, [7]]);
  expect(await gateway.reload({ config: { pageBounds: { maxPageSize: 8 } } })).toMatchObject({ outcome: 'applied' });
  expect([await size(), await listed(), closed]).toEqual([8, 400, [7, 100]]);
});

it.each<[who: string, broken: Partial<RunningFeature>]>([
  ['a feature', { use: fail }],
  [
    'the listeners',
    {
      get adminRoutes() {
        return fail();
      },
    },
  ],
])('closes what it has started if %s cannot use the first configuration', async (_, broken) => {
  const events: string[] = [];
  const feature: Feature = {
    name: 'broken',
    start: () => Object.defineProperties({ close: () => void events.push('closed') }, described(broken)),
  };
  const upstream = await startFakeUpstream(exampleResponse);
  await expect(startTestGateway({ upstream, features: [feature] })).rejects.toThrow('not usable');
  expect(events).toEqual(['closed']);
});

const described = Object.getOwnPropertyDescriptors;

function fail(): never {
  throw new Error('not usable');
}
