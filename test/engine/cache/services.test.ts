import { expect, it } from 'vitest';
import type { Feature } from '../../../src/engine/feature.ts';
import { exampleResponse } from '../../builders/example-response.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { createFakePageStore } from '../../builders/fake-page-store.ts';
import { startFleet } from '../../builders/fleet.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { startRedisServer } from '../../builders/redis-server.ts';

const LIST = '/services/v2/article.json';

needsProgram('redis', 'a page store of a feature', (path) => {
  it('has the pages of the gateways that share the log of changes, until they close', async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    const store = createFakePageStore();
    let closed = 0;
    const shelf: Feature = {
      name: 'shelf',
      openPageStore: () => ({ ...store.connect(), close: () => Promise.resolve(void closed++) }),
    };
    const fleet = await startFleet(2, await startRedisServer(path), upstream, { features: [shelf] });
    const states: unknown[] = [];
    for (const gateway of fleet) states.push((await gateway.call(LIST)).headers['cache-status']);
    expect(states).toEqual([
      expect.stringContaining('fwd=miss'),
      expect.stringMatching(/^portico; hit; .*detail=shared$/),
    ]);
    expect(upstream.requests.filter((one) => one.path === LIST)).toHaveLength(1);
    expect([...store.values.keys()]).toContainEqual(expect.stringContaining('listArticles'));
    await Promise.all(fleet.map(({ gateway }) => gateway.close()));
    expect(closed).toBe(2);
  });
});
