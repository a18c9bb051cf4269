import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { needsProgram } from '../builders/needs-program.ts';
import { withConsole } from './console-fixture.ts';

needsProgram('chromium', 'the page of violations', (path) => {
  const { gateway, visit } = withConsole(path, { chaos: ['wrong-type:creationDate@6', 'missing-field:type@13'] });

  it("shows the upstream's violations, filtered by category, operation and text", async () => {
    await gateway().call('/services/v2/question.json');
    await gateway().call('/services/v2/article.json');
    await gateway().call('/services/v2/question.json?page=x');
    await visit('#/violations', async (page) => {
      await page.getByText('3 violations').waitFor();
      await page.getByLabel('Category').selectOption('missing');
      await page.getByText('1 of 3 violations').waitFor();
      await page.getByRole('link', { name: '/list/*/type is missing' }).waitFor();
      await page.getByRole('link', { name: 'Clear' }).click();
      await page.getByLabel('Operation').selectOption('listQuestions');
      await page.getByText('2 of 3 violations').waitFor();
      await page.getByLabel('Direction').selectOption('response');
      await page.getByText('1 of 3 violations').waitFor();
      await page.getByRole('link', { name: 'Clear' }).click();
      await page.getByLabel('Text').fill('whole number');
      await page.getByText('1 of 3 violations').waitFor();
      await page.getByLabel('State').selectOption('new');
      await page.getByLabel('Text').fill('nothing has this');
      await page.getByText('No violations match these filters.').waitFor();
    });
  });

  it('shows for each one where and how often it occurred, and in which requests', async () => {
    const { headers } = await gateway().call('/services/v2/article.json?page=2');
    const requestId = String(headers['x-request-id']);
    await visit('#/violations?category=missing', async (page) => {
      await page.getByRole('link', { name: '/list/*/type is missing' }).click();
      await page.getByRole('heading', { name: '/list/*/type is missing', level: 1 }).waitFor();
      await page.getByRole('rowheader', { name: requestId }).waitFor();
      const where = await page.locator('dl.facts').first().innerText();
      expect(where).toMatch(/Operation\s+listArticles\s+Direction\s+response\s+Check\s+responses/);
      expect(where).toMatch(/resources\/node\.schema\.json/);
    });
  });

  it('cannot accept one without a configured baseline, and explains why', async () => {
    await visit('#/violations', async (page) => {
      await page.getByRole('link', { name: '/list/*/type is missing' }).click();
      expect(await page.getByRole('button', { name: 'Add to the baseline' }).isDisabled()).toBe(true);
      await page.getByText('To accept violations, set contract.baseline to a file').waitFor();
    });
  });

  describe('with a configured baseline', () => {
    const folder = mkdtempSync(join(tmpdir(), 'portico-console-'));
    const file = join(folder, 'baseline.yaml');
    afterAll(() => rmSync(folder, { recursive: true }));
    const fixture = withConsole(path, {
      chaos: ['wrong-type:creationDate@6'],
      config: { contract: { baseline: file } },
    });

    it('accepts a violation, which is then in the file and no longer new', async () => {
      await fixture.gateway().call('/services/v2/question.json');
      await fixture.visit(
        '#/violations?state=new',
        async (page) => {
          await page.getByRole('link', { name: /creationDate must be/ }).click();
          await page.getByRole('button', { name: 'Add to the baseline' }).click();
          const dialog = page.getByRole('dialog', { name: 'Add to the baseline' });
          await dialog.getByLabel('Why is it accepted?').fill('Known since the migration: ticket 17');
          await dialog.getByLabel('Who is responsible?').fill('team-search');
          await dialog.getByLabel('Last day').fill('2001-01-01');
          await dialog.getByRole('button', { name: 'Accept' }).click();
          await dialog.getByText('The last day is in the past').waitFor();
          await dialog.getByLabel('Last day').fill('2999-12-31');
          await dialog.getByRole('button', { name: 'Accept' }).click();
          await page.getByText('Accepted by team-search until 2999-12-31').waitFor();
          await page.getByRole('button', { name: 'Change the acceptance' }).click();
          await dialog.getByLabel('Who is responsible?').fill('team-find');
          expect(await dialog.getByLabel('Why is it accepted?').inputValue()).toMatch(/^Known since/);
          await dialog.getByRole('button', { name: 'Accept' }).click();
          await page.getByText('Accepted by team-find until 2999-12-31').waitFor();
          await page.getByRole('link', { name: 'All violations' }).click();
          await page.getByLabel('State').selectOption('accepted');
          await page.getByRole('row', { name: /creationDate must be .* accepted/ }).waitFor();
        },
        { tolerate: /400/ },
      );
      expect(readFileSync(file, 'utf8')).toMatch(
        /reason: "?Known since the migration: ticket 17"?\n +owner: team-find\n +expires: "?2999-12-31/,
      );
    });
  });
});
