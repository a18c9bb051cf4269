import { expect, it } from 'vitest';
import { needsProgram } from '../builders/needs-program.ts';
import { withConsole } from './console-fixture.ts';

needsProgram('chromium', 'the page of the cache', (path) => {
  const { gateway, visit } = withConsole(path);
  const statusOf = async (target: string) => String((await gateway().call(target)).headers['cache-status']);

  it('shows stored responses by operation and by tag, and purges by tag or completely', async () => {
    await gateway().call('/services/v2/question.json');
    await gateway().call('/services/v2/idea.json');
    expect(await statusOf('/services/v2/question.json')).toContain('hit');
    await visit('#/cache', async (page) => {
      const tags = page.getByRole('region', { name: 'Stored responses by tag' });
      await page.getByText('2 stored responses').waitFor();
      await page.getByRole('rowheader', { name: 'listQuestions' }).waitFor();
      await page.getByLabel('Tag contains').fill('ideas');
      await tags.getByRole('row').nth(2).waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Purge ideas' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      await page.getByText('2 stored responses').waitFor();
      await page.getByRole('button', { name: 'Purge ideas' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Purge' }).click();
      await page.getByText('1 response purged.').waitFor({ state: 'attached' });
      await page.locator('#kept').getByText('1 stored response').waitFor();
      // The clicked button no longer exists, and the focus has moved to the main content.
      await page.locator('main:focus').waitFor();
      await page.getByRole('button', { name: 'Purge everything' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Purge' }).click();
      await page.locator('#kept').getByText('0 stored responses').waitFor();
    });
    expect(await statusOf('/services/v2/question.json')).toContain('miss');
  });
});
