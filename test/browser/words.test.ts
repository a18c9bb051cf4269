import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { CONSOLE_PAGES } from '../builders/console-pages.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { withConsole } from './console-fixture.ts';
import { TOKEN } from './open-console.ts';
import { wordFaults } from './word-faults.ts';

/** Runs in the browser: returns true if a visible table other than a matrix is wider than its region. */
const IS_WIDE = `[...document.querySelectorAll('main .scroll:has(table:not(.matrix))')]
  .some((region) => region.checkVisibility() && region.scrollWidth > region.clientWidth)`;

needsProgram('chromium', 'the words of the console', (path) => {
  const folder = tempFolder();
  const { gateway, visit } = withConsole(path, {
    chaos: ['wrong-type:creationDate@6'],
    config: {
      contract: { baseline: join(folder, 'baseline.yaml') },
      changes: { lists: [], folder: ':memory:' },
      operations: { listQuestions: { checks: { responses: 'enforce' } } },
      levels: { demote: { minAnswers: 3, share: 0.1, windowSeconds: 60 } },
    },
  });
  beforeAll(async () => {
    for (const page of [1, 2, 3]) await gateway().call(`/services/v2/question.json?page=${page}`);
    for (const target of ['question.json', 'idea.json', 'question.json?page=x'])
      await gateway().call(`/services/v2/${target}`);
    const headers = { Authorization: `Bearer ${TOKEN}` };
    const set = {
      operation: 'listIdeas',
      kind: 'level',
      check: 'responses',
      level: 'off',
      reason: 'INC-17',
      by: 'alice',
    };
    await gateway().admin('/overrides', { method: 'POST', body: { ...set, forMinutes: 60 }, headers });
    await gateway().admin('/cache/purge', { method: 'POST', body: { tags: ['questions'] }, headers });
    await gateway().admin('/cache/purge', { method: 'POST', body: {}, headers });
  });
  it('are whole, and separated from each other, on every page at every usual width', async () => {
    await visit('#/traffic', async (page) => {
      const found: string[] = [];
      for (const name of CONSOLE_PAGES) {
        await page.evaluate(`location.hash = '#/${name}'`);
        await page.locator(`nav a[href="#/${name}"][aria-current]`).waitFor();
        await page.locator('main tbody tr').filter({ visible: true }).first().waitFor();
        found.push(...(await wordFaults(page, name)));
        // Matrices have a column for each check or role, so they may be wider than the window.
        await page.setViewportSize({ width: 1280, height: 900 });
        if (await page.evaluate(IS_WIDE)) found.push(`${name} at 1280: a table must be scrolled sideways`);
      }
      await page.evaluate("location.hash = '#/violations'");
      await page.locator('main tbody a').filter({ visible: true }).first().click();
      await page
        .getByRole('heading', { name: /Sample/ })
        .first()
        .waitFor();
      found.push(...(await wordFaults(page, 'violation')));
      expect(found).toEqual([]);
    });
  });

  it.each([
    ['violations', 'Add to the baseline', 'Add to the baseline'],
    ['levels', 'Lift the demotion of responses for listQuestions', /Lift/],
    ['levels', 'Set an override', 'Set an override'],
    ['levels', /^End now/, 'End the override?'],
    ['cache', 'Purge everything', 'Purge everything?'],
    ['configuration', 'Reload', 'Reload the configuration?'],
  ])('are whole and separated in the dialog of the page %s that %s opens', async (name, button, title) => {
    await visit(`#/${name}`, async (page) => {
      if (name === 'violations') await page.locator('main tbody a').filter({ visible: true }).first().click();
      await page.getByRole('button', { name: button }).first().click();
      await page.getByRole('dialog', { name: title }).waitFor();
      expect(await wordFaults(page, `dialog-${name}`)).toEqual([]);
    });
  });

  it('are whole and separated in the API docs, also where they are expanded', async () => {
    await visit('reference#getComment', async (page) => {
      await page.locator('#getComment').waitFor();
      await page.evaluate("document.querySelectorAll('#getComment details').forEach((one) => { one.open = true; })");
      await page.locator('#getComment .fields .name').first().waitFor();
      expect(await wordFaults(page, 'reference')).toEqual([]);
    });
  });

  it('stay separated where a template wraps its text', async () => {
    const wrapped =
      'html`<p>\n  one\n  <b>two</b>\n  three\n  ${4}\n  five\n  ${6}\n  <i>seven</i>\n  ${8}\n  ${9}\n</p>`';
    await visit('#/traffic', async (page) => {
      const text =
        await page.evaluate<string>(`import(new URL('lib/html.js', document.querySelector('script[src$="main.js"]').src)).then(({ html, render }) => {
        const root = document.createElement('div');
        render(${wrapped}, root);
        return root.textContent;
      })`);
      expect(text).toBe('one two three 4 five 6 seven 8 9');
    });
  });

  it('say on the audit page who changed what, and what was refused', async () => {
    await visit('#/audit', async (page) => {
      const row = (name: RegExp) => page.getByRole('row', { name }).first().waitFor();
      await row(/purge refused .*Send/);
      await row(/purge done tags questions purged \d+ token 127\.0\.0\.1, api/);
      await row(
        /override set done operation listIdeas; change responses kind level; check responses; level off; reason INC-17; until [^;]+ alice \(token\) 127\.0\.0\.1, api/,
      );
      await page.getByLabel('Outcome').selectOption('refused');
      await page.getByText('1 entry', { exact: true }).waitFor();
      expect(page.url()).toContain('outcome=refused');
    });
  });
});
