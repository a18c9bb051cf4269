import { expect, it } from 'vitest';
import type { Feature } from '../../src/engine/feature.ts';
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

it('closes what it has started if the first configuration cannot be used', async () => {
  const events: string[] = [];
  const broken: Feature = {
    name: 'broken',
    start: () => ({
      use() {
        throw new Error('not usable');
      },
      close: () => void events.push('closed'),
    }),
  };
  const upstream = await startFakeUpstream(exampleResponse);
  await expect(startTestGateway({ upstream, features: [broken] })).rejects.toThrow('not usable');
  expect(events).toEqual(['closed']);
});
