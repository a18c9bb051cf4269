import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOUR_MS, startOfHour } from '../../src/lib/clock.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { axeFindings } from './axe-findings.ts';
import { withConsole } from './console-fixture.ts';
import { challenged } from './open-console.ts';

// The clock stops at the end of the hour, so that all violations fall within the hour in which the page is viewed.
const endOfHour = startOfHour(Date.now()) + HOUR_MS - 1;
const clock = () => Math.min(Date.now(), endOfHour);

needsProgram('chromium', 'the page of violations', (path) => {
  const chaos = ['wrong-type:creationDate@6', 'missing-field:type@13'];
  const { gateway, visit } = withConsole(path, { chaos, clock });
  beforeAll(async () => {
    await gateway().call('/services/v2/question.json');
    await gateway().call('/services/v2/article.json');
    await gateway().call('/services/v2/question.json?page=x');
  });

  it("shows the upstream's violations, filtered by category, operation and text, and restores no cleared filters", async () => {
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

      // Cleared filters are not restored. The browser reports a URL change asynchronously, so the page still has the
      // old filters when the user starts typing.
      await page.evaluate("location.hash = '#/violations?category=missing'");
      await page.getByText('1 of 3 violations').waitFor();
      const text = await page.getByLabel('Text').elementHandle();
      const hash = await text?.evaluate((input) => {
        location.hash = '#/violations';
        (input as HTMLInputElement).value = 'whole';
        input.dispatchEvent(new Event('input', { bubbles: true }));
        return location.hash;
      });
      expect(hash).toBe('#/violations?text=whole');
    });
  });

  it('shows for each one where it occurred, in which requests, an overlay that would fix it, and links', async () => {
    const { headers } = await gateway().call('/services/v2/article.json?page=2');
    const requestId = String(headers['x-request-id']);
    await visit('#/violations?category=missing', async (page) => {
      await page.getByRole('link', { name: '/list/*/type is missing' }).click();
      await page.getByRole('heading', { name: '/list/*/type is missing', level: 1 }).waitFor();
      await page.getByRole('rowheader', { name: requestId }).waitFor();
      const where = await page.locator('dl.facts').first().innerText();
      expect(where).toMatch(
        /Operation\s+listArticles\s+Traffic\s+Violations\s+Levels\s+API docs\s+Direction\s+response\s+Check\s+responses/,
      );
      expect(where).toMatch(/resources\/node\.schema\.json/);

      // Without a configured baseline, no violation can be accepted, and the page explains why.
      expect(await page.getByRole('button', { name: 'Add to the baseline' }).isDisabled()).toBe(true);
      await page.getByText('To accept violations, set contract.baseline to a file').waitFor();

      await page.getByText(/schemas\/resources\/node\.schema\.json:\d+$/).waitFor();
      const overlay = await page.getByLabel('Overlay').innerText();
      expect(parse(overlay)).toMatchObject({
        overlay: '1.0.0',
        actions: [{ target: expect.stringMatching(/\.required$/) as string, remove: true }, {}],
      });
      await page.getByRole('link', { name: 'Levels of listArticles' }).waitFor();
      await page.getByRole('link', { name: 'Traffic of listArticles' }).waitFor();
      await page.getByRole('link', { name: 'API docs of listArticles' }).click();
      await page.locator('article#listArticles h3:focus').waitFor();
      await page.getByRole('link', { name: 'Violations of listArticles' }).click();
      await page.getByText('1 of 3 violations').waitFor();
    });
  });

  it('sorts them by impact and by every column, and shows hours, the first release and links', async () => {
    await visit('#/violations', async (page) => {
      await page.getByText('3 violations').waitFor();
      expect(await page.getByLabel('Sorted by').inputValue()).toBe('impact');
      const seen = async () => (await page.locator('tbody td[data-title=Seen]').allInnerTexts()).map(Number);
      const byImpact = await seen();
      expect(byImpact).toEqual(byImpact.toSorted((a, b) => b - a));
      await page.getByRole('button', { name: 'Seen', exact: true }).click();
      await page.locator('th[aria-sort=descending]', { hasText: 'Seen' }).waitFor();
      await page.getByRole('button', { name: 'Seen', exact: true }).click();
      await page.locator('th[aria-sort=ascending]', { hasText: 'Seen' }).waitFor();
      expect(await seen()).toEqual(byImpact.toReversed());
      const row = page.getByRole('row', { name: /type is missing/ });
      await row
        .getByRole('img', { name: /^[12] occurrences? in the last 24 hours, [12] in the current hour$/ })
        .waitFor();
      await row.getByText('unlabelled').waitFor();
      await row.getByRole('link', { name: 'listArticles' }).click();
      await page.getByRole('link', { name: 'Violations of listArticles' }).first().click();
      await page.getByText('1 of 3 violations').waitFor();
    });
  });

  it('do not move under the pointer when the list is refreshed', async () => {
    await visit(
      '#/violations',
      async (page) => {
        const reads = { turned: false };
        await page.route('**/api/violations*', async (route) => {
          const fetched = await route.fetch();
          const list = (await fetched.json()) as { rows: { count: number }[] };
          const rows = reads.turned
            ? list.rows.toReversed().map((row) => Object.assign(row, { count: 777 }))
            : list.rows;
          await route.fulfill({ response: fetched, json: { ...list, rows } });
        });
        const names = () => page.locator('tbody th a').allInnerTexts();
        await page.getByText('3 violations').waitFor();
        const before = await names();
        await page.locator('tbody tr').nth(1).hover();
        reads.turned = true;
        await page.clock.fastForward(4000);
        // The counts have been updated, but the rows are still in the same order.
        await page.locator('td', { hasText: '777' }).first().waitFor();
        expect(await names()).toEqual(before);
        await page.getByText('The list has changed.').waitFor();
        await page.getByRole('heading', { name: 'Violations' }).hover();
        await page.getByText('The list has changed.').waitFor({ state: 'detached' });
        expect(await names()).toEqual(before.toReversed());
      },
      // The credentials are also needed for `route.fetch`.
      { ...challenged(), ownClock: true },
    );
  });

  describe('with one cause in several operations', () => {
    const fixture = withConsole(path, {
      chaos: ['extra-field:legacyScore'],
      config: { mode: 'staging', operations: { listIdeas: { checks: { requests: 'report' } } } },
    });
    beforeAll(async () => {
      for (const name of ['question', 'idea', 'article']) {
        await fixture.gateway().call(`/services/v2/${name}.json`);
        await fixture.gateway().call(`/services/v2/${name}.json?page=x`);
      }
    });

    it('lists the cause, which opens to its violations, stays open on the way back, and closes', async () => {
      await fixture.visit('#/violations?direction=request', async (page) => {
        await page.getByText('3 of 6 violations with 1 cause').waitFor();
        const rows = page.locator('tbody tr');
        expect(await rows.count()).toBe(1);
        const cause = rows.first();
        expect(await cause.innerText()).toMatch(/3 operations\s+type\s+enforce\s+new/);
        expect(await cause.getByRole('link').count()).toBe(0);
        const fold = cause.getByRole('button', { name: /^3 violations with one cause: page must be/ });
        expect(await fold.getAttribute('aria-expanded')).toBe('false');
        await fold.press('Enter');
        await page.locator('tr.member').nth(2).waitFor();
        expect(await fold.getAttribute('aria-expanded')).toBe('true');
        expect(await rows.count()).toBe(4);
        // The focus stays on the button.
        expect(await fold.evaluate((button) => button === document.activeElement)).toBe(true);
        const idea = page.locator('tr.member', { has: page.getByRole('link', { name: 'listIdeas' }) });
        expect(await idea.locator('[data-title=Level]').innerText()).toBe('report');
        expect(await axeFindings(page)).toEqual([]);

        await idea.getByRole('rowheader').getByRole('link').click();
        await page.getByRole('heading', { name: 'Location' }).waitFor();
        await page.goBack();
        await page.locator('tr.member').nth(2).waitFor();
        await page.getByLabel('Operation').selectOption('listIdeas');
        await page.getByText('1 of 6 violations').waitFor();
        await page.getByRole('rowheader').getByRole('link').waitFor();
        expect(await rows.count()).toBe(1);
        await page.getByLabel('Operation').selectOption('');
        await page.locator('tr.member').nth(2).waitFor();
        await fold.click();
        await page.locator('tr.member').first().waitFor({ state: 'detached' });
        expect(await rows.count()).toBe(1);
        expect(page.url()).not.toContain('open=');
      });
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

    it('accepts a violation, which is then in the file and no longer new, and withdraws the acceptance', async () => {
      let written = '';
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
          written = readFileSync(file, 'utf8');
          await page.getByRole('link', { name: /creationDate must be/ }).click();
          await page.getByRole('button', { name: 'Withdraw the acceptance' }).click();
          await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
          await page.getByRole('button', { name: 'Add to the baseline' }).waitFor();
          await page.getByText('new', { exact: true }).waitFor();
          expect(readFileSync(file, 'utf8')).not.toContain('ticket 17');
        },
        { tolerate: /400/ },
      );
      expect(written).toMatch(
        /reason: "?Known since the migration: ticket 17"?\n +owner: team-find\n +expires: "?2999-12-31/,
      );
    });
  });
});
