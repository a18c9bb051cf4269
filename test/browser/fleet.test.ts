import type { Browser } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { exampleAnswer } from '../builders/example-answer.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { sharedBy, startFleet } from '../builders/fleet.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { connectTo, startRedisServer } from '../builders/redis-server.ts';
import type { TestGateway } from '../builders/test-gateway.ts';
import { until } from '../builders/until.ts';
import { axeFindings } from './axe-findings.ts';
import { launch } from './launch.ts';
import { openConsole, openContext, TOKEN } from './open-console.ts';

needsProgram('chromium', 'the page of the fleet', (chromium) => {
  needsProgram('redis', 'with several gateways', (path) => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launch(chromium);
    });

    /** Starts gateways with these names. The `changed` gateway has a different configuration from the others. */
    const startNamed = async (names: readonly string[], changed?: string) => {
      const [server, upstream] = [await startRedisServer(path), await startFakeUpstream(exampleAnswer)];
      const gateways: TestGateway[] = [];
      for (const instance of names) {
        const cache = { freshSeconds: instance === changed ? 20 : 30 };
        const config = { instance, adminToken: TOKEN, cache, ledger: { store: 'redis' } };
        gateways.push(...(await startFleet(1, server, upstream, { config })));
      }
      const [first] = gateways;
      if (first === undefined) throw new Error('no gateway was started');
      await until(() => sharedBy(first).instances.list().length === names.length);
      const redis = connectTo(server.url);
      await until(() => redis.isAvailable());
      return { first, gateways, redis };
    };

    it('lists the gateways, marks what differs, and shows one that no longer reports until it is removed', async () => {
      const { first, gateways, redis } = await startNamed(['gateway-a', 'gateway-b', 'gateway-c'], 'gateway-b');
      for (const { call } of gateways) await call('/services/v2/question.json');
      const context = await openContext(browser, first.adminUrl);
      const { page, troubles } = await openConsole(context, first.adminUrl, '#/fleet');
      const list = page.getByRole('region', { name: 'Gateways that share state' });
      const rowOf = (name: string) => list.getByRole('row', { name: new RegExp(`^${name}`) });
      for (const name of ['gateway-a', 'gateway-b', 'gateway-c']) await rowOf(name).getByText('ready').waitFor();
      await page.getByText('The gateways differ in: configuration.').waitFor();
      expect(await list.locator('code.bad').count()).toBe(1);
      expect(await rowOf('gateway-b').locator('code.bad').count()).toBe(1);
      const counts = page.getByRole('region', { name: 'Requests and violations by gateway' });
      for (const name of ['gateway-a', 'gateway-b', 'gateway-c'])
        await counts.getByRole('row', { name: new RegExp(`^${name}.* 1 0$`) }).waitFor();
      expect(await axeFindings(page)).toEqual([]);

      // An instance of an earlier version that stopped reporting a few seconds ago, as happens during an update. The
      // time comes from the Redis server, because the gateways' clocks can differ.
      const key = redis.key('fleet', 'instances');
      const old = JSON.stringify({
        ...sharedBy(first).instances.list()[0],
        name: 'gateway-old',
        version: '0.0.9',
      });
      const report = async () => {
        const [now] = (await redis.command('', ['TIME'])) as string[];
        await redis.command(key, ['HSET', key, 'old', `${Number(now) - 10}\n${old}`]);
      };
      const stayingSilent = setInterval(() => void report(), 500);
      await rowOf('gateway-old').getByText('silent').waitFor();
      await page.getByText('The gateways differ in: version, configuration.').waitFor();
      expect(await rowOf('gateway-old').locator('span.bad').allTextContents()).toEqual(['silent', '0.0.9']);
      await page.setViewportSize({ width: 360, height: 740 });
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(await axeFindings(page)).toEqual([]);
      await page.setViewportSize({ width: 1280, height: 800 });
      clearInterval(stayingSilent);
      await rowOf('gateway-old').waitFor({ state: 'detached' });

      // A gateway that shuts down removes itself from the list.
      await gateways[2]?.close();
      await rowOf('gateway-c').waitFor({ state: 'detached' });
      await rowOf('gateway-b').getByText('ready').waitFor();
      // A gateway's counts remain visible after the gateway has ended.
      await counts.getByRole('row', { name: /^gateway-c/ }).waitFor();
      expect(troubles).toEqual([]);
      await context.close();
      redis.close();
    });
  });
});
