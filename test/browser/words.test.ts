import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { needsProgram } from '../builders/needs-program.ts';
import { withConsole } from './console-fixture.ts';
import { TOKEN } from './open-console.ts';

const PAGES = [
  'traffic',
  'violations',
  'ladder',
  'overrides',
  'permissions',
  'cache',
  'upstream',
  'configuration',
  'audit',
];
const WIDTHS = [768, 1024, 1280, 1440];

/**
 * Runs in the browser: returns the words that continue on the next line, and the words that touch the next word on the
 * same line although the page's source separates them.
 */
const FAULTS = `(() => {
  const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  const faults = [];
  let before;
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.data.trim() === '' || !node.parentElement.checkVisibility() || node.parentElement.closest('.unseen, svg, pre, option')) continue;
    const rectsOf = (from, to) => {
      const range = document.createRange();
      range.setStart(node, from);
      range.setEnd(node, to);
      return [...range.getClientRects()].filter(({ width }) => width > 0);
    };
    for (const { 0: word, index } of node.data.matchAll(/[A-Za-z]{2,40}/g)) {
      const tops = new Set(rectsOf(index, index + word.length).map(({ top }) => Math.round(top)));
      if (tops.size > 1) faults.push('broken: ' + word);
    }
    const rects = rectsOf(0, node.data.length);
    const [first, last] = [rects[0], rects.at(-1)];
    if (first === undefined) continue;
    if (before !== undefined && /\\w$/.test(before.text) && /^[\\w/]/.test(node.data)) {
      const gap = first.left - before.right;
      if (first.top < before.bottom && first.bottom > before.top && Math.abs(gap) < 1.5) faults.push('joined: ' + before.text.slice(-20) + '|' + node.data.slice(0, 20));
    }
    before = { text: node.data, right: last.right, top: last.top, bottom: last.bottom };
  }
  return faults;
})()`;

needsProgram('chromium', 'the words of the console', (path) => {
  const { gateway, visit } = withConsole(path, { chaos: ['wrong-type:creationDate@6'] });
  beforeAll(async () => {
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
  const faultsOf = async (page: Page, name: string) => {
    const found: string[] = [];
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const faults = await page.evaluate<string[]>(FAULTS);
      found.push(...faults.map((fault) => `${name} at ${width}: ${fault}`));
      const folder = process.env['PORTICO_TEST_SCREENSHOTS'];
      if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}-${width}.png`, fullPage: true });
    }
    return found;
  };

  it('are whole, and separated from each other, on every page at every usual width', async () => {
    await visit('#/traffic', async (page) => {
      const found: string[] = [];
      for (const name of PAGES) {
        await page.evaluate(`location.hash = '#/${name}'`);
        await page.locator(`nav a[href="#/${name}"][aria-current]`).waitFor();
        await page.locator('main tbody tr').filter({ visible: true }).first().waitFor();
        found.push(...(await faultsOf(page, name)));
      }
      await page.evaluate("location.hash = '#/violations'");
      await page.locator('main tbody a').filter({ visible: true }).first().click();
      await page
        .getByRole('heading', { name: /Sample/ })
        .first()
        .waitFor();
      found.push(...(await faultsOf(page, 'violation')));
      expect(found).toEqual([]);
    });
  });

  it('stay separated where a template wraps its text', async () => {
    const wrapped = 'html`<p>\n  one\n  <b>two</b>\n  three\n  ${4}\n  five\n</p>`';
    await visit('#/traffic', async (page) => {
      const text =
        await page.evaluate<string>(`import(new URL('lib/html.js', document.querySelector('script[src$="main.js"]').src)).then(({ html, render }) => {
        const root = document.createElement('div');
        render(${wrapped}, root);
        return root.textContent;
      })`);
      expect(text).toBe('one two three 4 five');
    });
  });

  it('say on the audit page who changed what, and what was refused', async () => {
    await visit('#/audit', async (page) => {
      const row = (name: RegExp) => page.getByRole('row', { name }).first().waitFor();
      await row(/purge refused .*Send/);
      await row(/purge done tags questions purged \d+ token 127\.0\.0\.1, api/);
      await row(/override set done operation listIdeas; change responses .*INC-17.* alice \(token\) 127\.0\.0\.1, api/);
      await page.getByLabel('Outcome').selectOption('refused');
      await page.getByText('1 entry', { exact: true }).waitFor();
      expect(page.url()).toContain('outcome=refused');
    });
  });
});
