import { expect, it } from 'vitest';
import { needsProgram } from '../builders/needs-program.ts';
import { withConsole } from './console-room.ts';

needsProgram('chromium', 'the page of the cache', (path) => {
  const { gateway, visit } = withConsole(path);
  const statusOf = async (target: string) => String((await gateway().call(target)).headers['cache-status']);

  it('shows what is kept by operation and tag, and purges by tag and everything', async () => {
    await gateway().call('/services/v2/question.json');
    await gateway().call('/services/v2/idea.json');
    expect(await statusOf('/services/v2/question.json')).toContain('hit');
    await visit('#/cache', async (page) => {
      const tags = page.getByRole('region', { name: 'Kept pages by tag' });
      await page.getByText('2 pages').waitFor();
      await page.getByRole('rowheader', { name: 'listQuestions' }).waitFor();
      await page.getByLabel('Tag holds').fill('ideas');
      await tags.getByRole('row').nth(2).waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Purge ideas' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      await page.getByText('2 pages').waitFor();
      await page.getByRole('button', { name: 'Purge ideas' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Purge' }).click();
      await page.getByText('1 page dropped.').waitFor({ state: 'attached' });
      await page.locator('#kept').getByText('1 page').waitFor();
      // The button that was used is gone: the focus is not.
      await page.locator('main:focus').waitFor();
      await page.getByRole('button', { name: 'Purge everything' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Purge' }).click();
      await page.locator('#kept').getByText('0 pages').waitFor();
    });
    expect(await statusOf('/services/v2/question.json')).toContain('miss');
  });
});
