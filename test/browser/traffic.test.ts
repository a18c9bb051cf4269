import { expect, it } from 'vitest';
import { needsProgram } from '../builders/needs-program.ts';
import { withConsole } from './console-fixture.ts';

needsProgram('chromium', 'the page of traffic', (path) => {
  const { gateway, visit } = withConsole(path, { token: false });

  it('shows calls shortly after they are made, by operation, with errors and hits', async () => {
    await visit('', async (page) => {
      await page.getByRole('heading', { name: 'Traffic', level: 1 }).waitFor();
      await page.getByRole('row', { name: /^listQuestions GET \S+ 0 / }).waitFor();
      await gateway().call('/services/v2/question.json?pageSize=3');
      await gateway().call('/services/v2/question.json?pageSize=3');
      await gateway().call('/services/v2/question.json?page=x');
      const row = page.getByRole('row', { name: /^listQuestions GET \S+ 3 / });
      await row.waitFor();
      const cells = await row.getByRole('cell').allInnerTexts();
      // The cells show requests, 4xx, 5xx and the hit ratio. The rate and the latencies depend on the duration of the
      // test.
      expect([cells[0], cells[2], cells[3], cells[6]]).toEqual(['3', '1', '0', '50 %']);
    });
  });

  it('draws a single event, and states the source of the percentiles', async () => {
    await gateway().call('/services/v2/topic/1/followers.json', { user: 'alice' });
    await visit('#/traffic?operation=listTopicFollowers', async (page) => {
      await page.getByText(/^1 in /).waitFor();
      await page.getByText(/^p50 and p99 are estimates: .* upper bounds 1 ms, 5 ms, .*, 10 s\.$/).waitFor();
      // A line needs two points, so this is a dot. The count covers the chart's pixels that are as colorful as its
      // line, not the grid.
      const drawn = `[...document.querySelectorAll('canvas')].map((canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        let found = 0;
        for (let at = 0; at < data.length; at += 4)
          if (data[at + 3] > 200 && Math.max(data[at], data[at + 1], data[at + 2]) - Math.min(data[at], data[at + 1], data[at + 2]) > 60)
            found += 1;
        return found;
      })`;
      const [, , latency = 0, hits = 0] = await page.evaluate<number[]>(drawn);
      expect([latency > 10, hits > 10]).toEqual([true, true]);
    });
  });

  it('offers to show separately only what is counted separately', async () => {
    await visit('', async (page) => {
      await page.route('**/api/traffic*', async (route) => {
        const answer = await route.fetch();
        const view = (await answer.json()) as { rows: { operation: string; path?: string; method?: string }[] };
        const rows = view.rows.filter(
          ({ operation }) => operation !== 'listNodeFollowers' && operation !== 'listExpertise',
        );
        await route.fulfill({
          response: answer,
          json: { ...view, rows: [...rows, { ...rows.at(-1), operation: 'folded' }] },
        });
      });
      await page.goto(`${gateway().adminUrl}/console/#/traffic?operation=listNodeFollowers`);
      await page.getByRole('row', { name: /^folded 2 operations counted together/ }).waitFor();
      expect(await page.getByRole('combobox', { name: 'Operation' }).inputValue()).toBe('');
      expect(await page.locator('option[value=listNodeFollowers]').count()).toBe(0);
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

  it('refreshes itself until it is paused', async () => {
    await visit('', async (page) => {
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByRole('button', { name: 'Paused' }).waitFor();
      const before = await page.locator('#updated').innerText();
      await gateway().call('/services/v2/article.json');
      await page.getByRole('button', { name: 'Paused' }).click();
      await page.getByRole('row', { name: /^listArticles GET \S+ 1 / }).waitFor();
      expect(before).toMatch(/^Updated \d\d:\d\d:\d\d$/);
    });
  });
});
