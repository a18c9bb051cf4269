import { expect, it } from 'vitest';
import { needsProgram } from '../builders/needs-program.ts';
import { withConsole } from './console-fixture.ts';
import { soon } from './open-console.ts';

needsProgram('chromium', 'the page of traffic', (path) => {
  const { gateway, visit } = withConsole(path, { token: false, ownClock: true });

  it('shows calls shortly after they are made, by operation, with errors and hits, and refreshes itself until it is paused', async () => {
    await visit('', async (page) => {
      await page.getByRole('heading', { name: 'Traffic', level: 1 }).waitFor();
      await page.getByRole('row', { name: /^listQuestions GET \S+ 0 / }).waitFor();
      await gateway().call('/services/v2/question.json?pageSize=3');
      await gateway().call('/services/v2/question.json?pageSize=3');
      await gateway().call('/services/v2/question.json?page=x');
      const row = page.getByRole('row', { name: /^listQuestions GET \S+ 3 / });
      await soon(page, row.waitFor());
      const cells = await row.getByRole('cell').allInnerTexts();
      // The cells show requests, 4xx, 5xx and the hit ratio. The rate and the latencies are skipped because they depend
      // on how long the test takes.
      expect([cells[0], cells[2], cells[3], cells[6]]).toEqual(['3', '1', '0', '50%']);

      // When the page is paused, the traffic is being fetched, and the timer for fetching the status is running.
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      await page.route('**/api/traffic*', (route) => released.then(() => route.continue()));
      const fetching = [page.waitForRequest('**/api/traffic*'), page.waitForResponse('**/api/status')];
      await Promise.all([...fetching, page.clock.fastForward(30_000)]);
      const fetched: string[] = [];
      page.on('request', (request) => fetched.push(new URL(request.url()).pathname));
      // The page sends this request in the turn in which it is paused, so nothing may be fetched after it.
      const marker = '/console/icon.svg';
      await page.evaluate(`fetch('${marker}'), document.querySelector('[aria-pressed]').click()`);
      await page.getByRole('button', { name: 'Paused' }).waitFor();
      expect(await page.locator('#updated').innerText()).toMatch(/^Updated \d\d:\d\d:\d\d$/);
      await gateway().call('/services/v2/article.json');
      release();
      await page.getByRole('row', { name: /^listArticles GET \S+ 1 / }).waitFor();
      await gateway().call('/services/v2/article.json');
      await page.clock.fastForward(60_000);
      await page.evaluate(`fetch('${marker}')`);
      expect(fetched.slice(fetched.indexOf(marker))).toEqual([marker, marker]);
      await page.getByRole('button', { name: 'Paused' }).click();
      await page.getByRole('row', { name: /^listArticles GET \S+ 2 / }).waitFor();
    });
  });

  it('draws a single event, and states the source of the percentiles', async () => {
    await gateway().call('/services/v2/topic/1/followers.json', { user: 'alice' });
    await visit('#/traffic?operation=listTopicFollowers', async (page) => {
      await page.getByText(/^1 in /).waitFor();
      await page.getByText(/^p50 and p99 are estimates: .* upper bounds 1 ms, 5 ms, .*, 10 s\.$/).waitFor();
      // A line needs two points, so a single event is drawn as a dot. Only pixels with a saturated color are counted,
      // which excludes the grid.
      const drawn = `[...document.querySelectorAll('canvas')].map((canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        let found = 0;
        for (let at = 0; at < data.length; at += 4)
          if (data[at + 3] > 200 && Math.max(data[at], data[at + 1], data[at + 2]) - Math.min(data[at], data[at + 1], data[at + 2]) > 60)
            found += 1;
        return found;
      })`;
      const isDrawn = async () => {
        const [, , latency = 0, hits = 0] = await page.evaluate<number[]>(drawn);
        return [latency > 10, hits > 10];
      };
      // The charts are drawn after the text.
      await expect.poll(isDrawn).toEqual([true, true]);
    });
  });

  it('offers to show separately only what is counted separately', async () => {
    await visit('', async (page) => {
      await page.route('**/api/traffic*', async (route) => {
        const fetched = await route.fetch();
        const view = (await fetched.json()) as { rows: { operation: string; path?: string; method?: string }[] };
        const rows = view.rows.filter(
          ({ operation }) => operation !== 'listNodeFollowers' && operation !== 'listExpertise',
        );
        await route.fulfill({
          response: fetched,
          json: { ...view, rows: [...rows, { ...rows.at(-1), operation: 'folded' }] },
        });
      });
      await page.goto(`${gateway().adminUrl}/console/#/traffic?operation=listNodeFollowers`);
      await page.getByRole('row', { name: /^folded 2 operations counted together/ }).waitFor();
      expect(await page.getByRole('combobox', { name: 'Operation' }).inputValue()).toBe('');
      expect(await page.locator('option[value=listNodeFollowers]').count()).toBe(0);
    });
  });

  it('shows the values at the pointer in every chart, and a latency axis with equal steps for factors of ten', async () => {
    await visit('#/cache', async (page) => {
      await page.route('**/api/traffic*', async (route) => {
        const fetched = await route.fetch();
        const view = (await fetched.json()) as { until: number; points: object[]; total: object };
        const at = (minutesAgo: number, p50: number) => {
          return {
            ...view.total,
            at: view.until - minutesAgo * 60_000,
            seconds: 10,
            requests: 20,
            clientErrors: 2,
            serverErrors: 5,
            p50,
            p99: 1,
          };
        };
        const points = [at(10, 0.01), at(5, 0.1)];
        const total = { ...view.total, requests: 200, clientErrors: 50, serverErrors: 1 };
        await route.fulfill({ response: fetched, json: { ...view, points, total } });
      });
      await page.getByRole('link', { name: 'Traffic', exact: true }).click();
      const latency = page.getByRole('figure', { name: 'Latency' });
      const plot = await latency.locator('.u-over').boundingBox();
      if (plot === null) throw new Error('the chart is not visible');
      /**
       * Hovers over a point in time. Returns the vertical position of the median in the plot, from 0 (top) to 1
       * (bottom).
       */
      const pointAt = async (minutesAgo: number, shown: string) => {
        await latency.locator('.u-over').hover({ position: { x: plot.width * (1 - minutesAgo / 15), y: 20 } });
        await latency.getByText(`p50 ${shown}`).waitFor();
        const dot = await latency.locator('.u-cursor-pt').first().boundingBox();
        return dot === null ? Number.NaN : (dot.y + dot.height / 2 - plot.y) / plot.height;
      };
      // The axis is logarithmic and runs from 10 ms to 1 s, so 100 ms is in the middle.
      expect(await pointAt(10, '10 ms')).toBeCloseTo(1, 1);
      expect(await pointAt(5, '100 ms')).toBeCloseTo(0.5, 1);
      const errors = page.getByRole('figure', { name: 'Errors and refusals' });
      expect(await errors.locator('.values').innerText()).toMatch(
        /^\d\d:\d\d:\d\d\s+errors \(5xx\) 0\.5\/s\s+refusals \(4xx\) 0\.2\/s$/,
      );
      const tiles = await page.locator('.tiles').innerText();
      expect(tiles).toMatch(/Errors \(5xx\)\s+0\.5%\s+1 response\s+Refusals \(4xx\)\s+25%\s+50 responses/);
    });
  });

  it('shows every chart as a table too, and a single operation separately', async () => {
    await gateway().call('/services/v2/idea.json');
    await visit('#/traffic?operation=listIdeas', async (page) => {
      await page.getByText('Requests as a table').click();
      await page.getByRole('region', { name: 'Requests as a table' }).getByRole('row').nth(1).waitFor();
      await page.getByText(/^1 in /).waitFor();
      await page.getByRole('combobox', { name: 'Operation' }).selectOption('getComment');
      await page.getByText(/^0 in /).waitFor();
      expect(page.url()).toContain('operation=getComment');
    });
  });
});
