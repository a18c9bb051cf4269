import type { Browser } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { cleanUpAfterTest } from '../builders/clean-up.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { sharedBy, startFleet } from '../builders/fleet.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { connectTo, startRedisServer } from '../builders/redis-server.ts';
import { until } from '../builders/until.ts';
import { axeFindings } from './axe-findings.ts';
import { launch } from './launch.ts';
import { openConsole, openContext, soon, TOKEN } from './open-console.ts';
import { wordFaults } from './word-faults.ts';

needsProgram('chromium', 'the page of the fleet', (chromium) => {
  needsProgram('redis', 'with several gateways', (path) => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launch(chromium);
    });

    it('lists the gateways, marks what differs, and shows one that no longer reports until it is removed', async () => {
      const [server, upstream] = [await startRedisServer(path), await startFakeUpstream(exampleResponse)];
      const start = async (instance: string, freshSeconds = 30) => {
        const config = { instance, adminToken: TOKEN, cache: { freshSeconds }, ledger: { store: 'redis' } };
        const [gateway] = await startFleet(1, server, upstream, { config });
        if (gateway === undefined) throw new Error('no gateway was started');
        await until(() => sharedBy(gateway).instances.list().length > 0);
        return gateway;
      };
      const first = await start('gateway-a');
      const second = await start('gateway-b', 20);

      // An instance of an earlier version that stopped reporting a few seconds ago, as happens during an update. The
      // time comes from the Redis server, because the gateways' clocks can differ.
      const redis = connectTo(server.url);
      cleanUpAfterTest(() => redis.close());
      await until(() => redis.isAvailable());
      const key = redis.key('fleet', 'instances');
      const old = JSON.stringify({ ...sharedBy(first).instances.list()[0], name: 'gateway-old', version: '0.0.9' });
      let silentSeconds = 10;
      const report = async () => {
        const [now] = (await redis.command('', ['TIME'])) as string[];
        await redis.command(key, ['HSET', key, 'old', `${Number(now) - silentSeconds}\n${old}`]);
      };
      await report();
      // A report that fails because the test ends, or because Redis is busy, is made up for by the next one.
      let reported = Promise.resolve();
      const stayingSilent = setInterval(() => void (reported = reported.then(report).catch(() => undefined)), 500);
      cleanUpAfterTest(async () => {
        clearInterval(stayingSilent);
        await reported;
      });

      // The test opens the console of the gateway that starts last, because the first report of that gateway already
      // returns all others.
      const last = await start('gateway-c');
      for (const { call, gateway } of [first, second, last]) {
        await call('/services/v2/question.json');
        await gateway.services.records.flush();
      }
      const context = await openContext(browser, last.adminUrl, { ownClock: true });
      const { page, troubles } = await openConsole(context, last.adminUrl, '#/fleet');
      const list = page.getByRole('region', { name: 'Gateways that share state' });
      const rowOf = (name: string) => list.getByRole('row', { name: new RegExp(`^${name}`) });
      for (const name of ['gateway-a', 'gateway-b', 'gateway-c']) await rowOf(name).getByText('ready').waitFor();
      await page.getByText('The gateways differ in: version, configuration.').waitFor();
      expect(await list.locator('code.bad').count()).toBe(1);
      expect(await rowOf('gateway-b').locator('code.bad').count()).toBe(1);
      expect(await rowOf('gateway-old').locator('span.bad').allTextContents()).toEqual(['silent', '0.0.9']);
      const counts = page.getByRole('region', { name: 'Requests and violations by gateway' });
      for (const name of ['gateway-a', 'gateway-b', 'gateway-c'])
        await counts.getByRole('row', { name: new RegExp(`^${name}.* 1 0$`) }).waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await page.setViewportSize({ width: 360, height: 740 });
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(await axeFindings(page)).toEqual([]);
      expect(await wordFaults(page, 'fleet')).toEqual([]);
      await page.setViewportSize({ width: 1280, height: 800 });

      // A gateway that has been silent for too long is removed, and one that shuts down removes itself.
      silentSeconds = 60;
      await report();
      await first.close();
      await until(() => sharedBy(last).instances.list().length === 2);
      await soon(page, rowOf('gateway-old').waitFor({ state: 'detached' }));
      await rowOf('gateway-a').waitFor({ state: 'detached' });
      await page.getByText('The gateways differ in: configuration.').waitFor();
      await rowOf('gateway-b').getByText('ready').waitFor();
      // A gateway's counts remain visible after the gateway has ended.
      await counts.getByRole('row', { name: /^gateway-a/ }).waitFor();
      expect(troubles).toEqual([]);
      await context.close();
    });
  });
});
