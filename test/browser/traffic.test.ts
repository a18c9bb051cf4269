import { expect, it } from 'vitest';
import { needsProgram } from '../builders/needs-program.ts';
import { withConsole } from './console-room.ts';

needsProgram('chromium', 'the page of traffic', (path) => {
  const { gateway, visit } = withConsole(path, { token: false });

  it('shows calls soon after they were made, by operation, with errors and hits', async () => {
    await visit('', async (page) => {
      await page.getByRole('heading', { name: 'Traffic', level: 1 }).waitFor();
      await page.getByRole('row', { name: /^listQuestions GET \S+ 0 / }).waitFor();
      await gateway().call('/services/v2/question.json?pageSize=3');
      await gateway().call('/services/v2/question.json?pageSize=3');
      await gateway().call('/services/v2/question.json?page=x');
      const row = page.getByRole('row', { name: /^listQuestions GET \S+ 3 / });
      await row.waitFor();
      const cells = await row.getByRole('cell').allInnerTexts();
      // Requests, 4xx, 5xx and hit ratio; the rate and the latencies are as long as the test takes.
      expect([cells[0], cells[2], cells[3], cells[6]]).toEqual(['3', '1', '0', '50 %']);
    });
  });

  it('has every chart as a table too, and one operation by itself', async () => {
    await gateway().call('/services/v2/idea.json');
    await visit('#/traffic?operation=listIdeas', async (page) => {
      await page.getByText('Requests as a table').click();
      await page.getByRole('region', { name: 'Requests as a table' }).getByRole('row').nth(1).waitFor();
      await page.getByText(/^1 in /).waitFor();
      await page.getByLabel('Charts show').selectOption('getComment');
      await page.getByText(/^0 in /).waitFor();
      expect(page.url()).toContain('operation=getComment');
    });
  });

  it('is read again by itself until it is paused', async () => {
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
