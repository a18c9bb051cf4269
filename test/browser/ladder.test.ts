import { expect, it } from 'vitest';
import { needsProgram } from '../builders/needs-program.ts';
import { OPERATIONS } from '../builders/operations.ts';
import { withConsole } from './console-fixture.ts';

needsProgram('chromium', 'the page of the ladder', (path) => {
  const { gateway, visit } = withConsole(path, {
    chaos: ['wrong-type:creationDate@6'],
    config: {
      operations: { listQuestions: { checks: { responses: 'enforce' } } },
      levels: { demote: { minAnswers: 3, share: 0.1, windowSeconds: 60 } },
    },
  });

  it('shows a demotion with its counts, and lifts it', async () => {
    const statuses: number[] = [];
    for (const page of [1, 2, 3, 4])
      statuses.push((await gateway().call(`/services/v2/question.json?page=${page}`)).status);
    expect([statuses[0], statuses[3]]).toEqual([502, 200]);
    await visit('#/levels', async (page) => {
      // The matrix has a row for each operation and a column for each check.
      const matrix = page.getByRole('region', { name: 'Level of each check for each operation' });
      await matrix.getByRole('columnheader', { name: 'pageBounds' }).waitFor();
      expect(await matrix.getByRole('row').count()).toBe(OPERATIONS.length + 1);
      expect(
        await matrix
          .getByRole('row', { name: /^listIdeas/ })
          .getByRole('cell')
          .count(),
      ).toBe(6);
      const details = page.getByRole('region', { name: 'Enforcement by operation and check' });
      // Until something is selected, the details describe the demoted check.
      await details.getByText(/demoted after 3 of 3 checks failed/).waitFor();
      await matrix.getByRole('link', { name: 'responses of listQuestions, demoted' }).click();
      await page.getByRole('heading', { name: 'responses of listQuestions' }).waitFor();
      expect(await details.getByRole('row').count()).toBe(2);
      const row = details.getByRole('row', { name: /^listQuestions/ });
      await row.getByText('configured: enforce').waitFor();
      await row.getByText(/demoted after 3 of 3 checks failed/).waitFor();
      await page.getByRole('button', { name: 'Lift the demotion of responses for listQuestions' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Lift' }).click();
      await row.getByText('enforced:').waitFor();
      await page.getByRole('button', { name: /Lift the demotion/ }).waitFor({ state: 'detached' });
    });
    expect((await gateway().call('/services/v2/question.json?page=5')).status).toBe(502);
  });
});
