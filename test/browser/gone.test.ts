import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { CONSOLE_PAGES } from '../builders/console-pages.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { axeFindings } from './axe-findings.ts';
import { withConsole } from './console-fixture.ts';
import { soon } from './open-console.ts';

const GONE = 'The gateway is not responding.';
const OPTIONS = { tolerate: /ERR_FAILED/ };

/** Makes the gateway unreachable until the returned function is called. */
async function cutOff(page: Page): Promise<() => Promise<void>> {
  await page.route('**/api/**', (route) => route.abort());
  return () => page.unroute('**/api/**');
}

needsProgram('chromium', 'while the gateway is gone, the console', (path) => {
  const { visit } = withConsole(path, { ownClock: true, config: { changes: { lists: [], folder: ':memory:' } } });

  it('reports this once, keeps its data, and resumes automatically', async () => {
    await visit(
      '#/traffic',
      async (page) => {
        await page.locator('main tr').filter({ visible: true }).first().waitFor();
        const before = await page.locator('main tr').count();
        const back = await cutOff(page);
        await soon(page, page.getByText('Out of date').waitFor());
        // The page fetches its own data as often as the data for the header, so both requests fail at about the same
        // time.
        await soon(page, page.waitForRequest(/api\/traffic/));
        expect(await page.getByText(GONE, { exact: true }).count()).toBe(1);
        await page.getByText(/It has not responded since \d\d:\d\d:\d\d\. The console keeps trying\./).waitFor();
        expect(await page.locator('main tr').count()).toBe(before);
        expect(await axeFindings(page)).toEqual([]);
        await back();
        await soon(page, page.getByText(GONE).waitFor({ state: 'detached' }));
        await page.getByText(/^Updated /).waitFor();
      },
      OPTIONS,
    );
  });

  it('shows it as not responding on every page, without the colors of its last state', async () => {
    await visit(
      '#/upstream',
      async (page) => {
        await page.locator('strong.good', { hasText: 'closed' }).waitFor();
        await cutOff(page);
        await soon(page, page.getByText('not responding', { exact: true }).waitFor());
        const colors = `[...document.querySelectorAll('main :is(.good, .warn, .bad):not(.note)')].map((one) => getComputedStyle(one).color)`;
        const muted = `getComputedStyle(document.querySelector('main .muted')).color`;
        const [shown, plain] = [await page.evaluate<string[]>(colors), await page.evaluate<string>(muted)];
        expect(shown).toEqual(shown.map(() => plain));
        expect(shown.length).toBeGreaterThan(0);
        for (const name of CONSOLE_PAGES) {
          await page.evaluate(`location.hash = '#/${name}'`);
          await page.locator(`nav a[href='#/${name}'][aria-current]`).waitFor();
          await page.getByText(GONE, { exact: true }).first().waitFor();
          // A page that has no data yet says so.
          await page
            .locator('main')
            .getByText('There is nothing to show until the gateway responds.')
            .first()
            .waitFor();
          expect(await page.getByText('ready', { exact: true }).count()).toBe(0);
          expect(await page.title()).toMatch(/^Not responding: /);
        }
      },
      OPTIONS,
    );
  });

  it('is not empty if the gateway has gone before it responded for the first time', async () => {
    await visit(
      '#/traffic',
      async (page) => {
        const back = await cutOff(page);
        await page.reload();
        await page.getByRole('heading', { name: 'Traffic', level: 1 }).waitFor();
        await page.getByText(/It has not responded since/).waitFor();
        await page.getByText('There is nothing to show until the gateway responds.').waitFor();
        await back();
        await soon(page, page.locator('main tr').filter({ visible: true }).first().waitFor());
      },
      OPTIONS,
    );
  });

  it('explains a decision once it is reachable again', async () => {
    await visit(
      '#/traffic',
      async (page) => {
        await page.getByRole('heading', { name: 'Traffic', level: 1 }).waitFor();
        const back = await cutOff(page);
        await page.evaluate("location.hash = '#/permissions?target=/services/v2/question.json&as=alice'");
        await page.locator('#explained').getByText(GONE).waitFor();
        await back();
        await soon(page, page.getByText('alice (verified)').waitFor());
      },
      OPTIONS,
    );
  });

  it('shows the API docs once the gateway is reachable again', async () => {
    await visit(
      '#/traffic',
      async (page) => {
        const back = await cutOff(page);
        await page.goto(page.url().replace(/#.*/, 'reference#listIdeas'));
        await page.getByText(GONE).waitFor();
        await back();
        await soon(page, page.locator('article#listIdeas h3:focus').waitFor());
        expect(await page.getByText(GONE).count()).toBe(0);
        // If the gateway goes down while the API docs are open, the page reports that the gateway is not responding.
        await cutOff(page);
        await soon(page, page.getByText('not responding', { exact: true }).waitFor());
      },
      OPTIONS,
    );
  });
});
