import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { renderHtml } from '../../src/workbench/report/html-report.ts';
import { renderJunit } from '../../src/workbench/report/junit-report.ts';
import { needsProgram } from '../builders/needs-program.ts';
import {
  acceptedWith,
  entryWith,
  HOSTILE_REPORT,
  PLAIN,
  reportOf,
  snapshotWith,
} from '../workbench/report/report-fixtures.ts';
import { axeFindings } from './axe-findings.ts';
import { launch } from './launch.ts';

const WHOLE = reportOf(
  snapshotWith([
    entryWith({ suggestion: 'title' }),
    entryWith({ fingerprint: 'b', category: 'type', message: '/list/*/id must be integer', count: 90 }),
    entryWith({ fingerprint: 'c', category: 'type', message: '/list/*/author must be object', operation: 'listIdeas' }),
  ]),
  [
    acceptedWith({ fingerprint: 'b' }),
    acceptedWith({ fingerprint: 'c', expires: '2026-01-01' }),
    acceptedWith({ fingerprint: 'gone', summary: 'once' }),
  ],
);

/** Runs in the browser: parses a JUnit report. */
const READ_XML = `(xml) => {
  const document = new DOMParser().parseFromString(xml, 'application/xml');
  const count = (name) => document.querySelectorAll(name).length;
  return {
    errors: count('parsererror'),
    counts: { cases: count('testcase'), failures: count('failure'), skipped: count('skipped') },
    stated: ['tests', 'failures', 'skipped'].map((name) => Number(document.documentElement.getAttribute(name))),
  };
}`;

needsProgram('chromium', 'reports in a browser', (path) => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-report-'));
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch(path);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function shown(html: string, scheme: 'light' | 'dark', width = 1200) {
    const file = join(folder, 'report.html');
    writeFileSync(file, html);
    const page = await browser.newPage({ colorScheme: scheme, viewport: { width, height: 800 } });
    const asked: string[] = [];
    const said: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('console', (message) => said.push(message.text()));
    page.on('dialog', (dialog) => void dialog.dismiss().then(() => said.push('a dialog')));
    await page.goto(pathToFileURL(file).href);
    return { page, asked, said };
  }

  it('the HTML report loads nothing external and violates no policy', async () => {
    const { page, asked, said } = await shown(renderHtml(HOSTILE_REPORT, PLAIN), 'light');
    expect(asked).toHaveLength(1);
    expect(said).toEqual([]);
    // The policy permits the page's own script only, so that no other can run.
    expect(await page.locator('script').count()).toBe(1);
    expect(await page.locator('.filters output').textContent()).toMatch(/ entries shown$/);
    expect(await page.locator('a, img, iframe, link').count()).toBe(0);
    await page.close();
  });

  it('the HTML report is accessible, light and dark', async () => {
    const { page } = await shown(renderHtml(WHOLE, PLAIN), 'dark');
    await page.locator('summary').first().click();
    expect(await axeFindings(page, 'colors')).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await axeFindings(page)).toEqual([]);
    const named = `[...document.querySelectorAll('table')].filter((table) => {
      const heading = document.getElementById(table.getAttribute('aria-labelledby'));
      return heading?.tagName === 'H2' && table.caption === null;
    }).length`;
    expect(await page.evaluate(named)).toBe(await page.locator('table').count());
    expect(await page.locator('th:not([scope])').count()).toBe(0);
    expect(await page.locator('details[open] dd').first().textContent()).toBe('00000000000000a1');
    await page.close();
  });

  it('the HTML report aligns the headers of numbers like the numbers', async () => {
    const { page } = await shown(renderHtml(WHOLE, PLAIN), 'light');
    const columns = `[...document.querySelectorAll('tbody td.number')].map((cell) => {
      const header = cell.closest('table').querySelectorAll('thead th')[cell.cellIndex];
      return [header.textContent, getComputedStyle(header).textAlign, getComputedStyle(cell).textAlign];
    })`;
    const found = await page.evaluate<[string, string, string][]>(columns);
    expect(found.length).toBeGreaterThan(3);
    expect(found.filter(([, header, cell]) => header !== cell)).toEqual([]);
    await page.close();
  });

  it('the HTML report can be sorted and filtered, and its columns keep their widths', async () => {
    const { page } = await shown(renderHtml(WHOLE, PLAIN), 'light');
    const table = page.locator('table[aria-labelledby=violations]');
    const counts = () => table.locator('tbody tr:visible td.number:nth-child(5)').allTextContents();
    const widths = () =>
      page.evaluate<number[]>(`[...document.querySelectorAll('thead th')].map((head) => head.offsetWidth)`);
    const before = await widths();
    await table.getByRole('button', { name: 'Count' }).click();
    expect(await counts()).toEqual(['90', '5', '5']);
    await table.getByRole('button', { name: 'Count' }).click();
    expect(await counts()).toEqual(['5', '5', '90']);
    await page.getByLabel('Category').selectOption('type');
    expect(await counts()).toEqual(['5', '90']);
    await page.getByLabel('State').selectOption('expired');
    expect(await page.locator('output').textContent()).toBe('1 of 3 entries shown');
    await page.getByLabel('State').selectOption('');
    await page.getByLabel('Search').fill('LISTIDEAS');
    expect(await counts()).toEqual(['5']);
    expect(await widths()).toEqual(before);
    await page.close();
  });

  it('the HTML report fits a phone', async () => {
    const { page } = await shown(renderHtml(WHOLE, PLAIN), 'light', 360);
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    await page.close();
  });

  it.each([
    ['a complete one', WHOLE, { cases: 3, failures: 2, skipped: 1 }],
    ['one with texts from requests and responses', HOSTILE_REPORT, { cases: 3, failures: 2, skipped: 1 }],
    ['an empty one', reportOf(snapshotWith([])), { cases: 1, failures: 0, skipped: 1 }],
  ])('the JUnit report is well-formed XML: %s', async (_name, report, counts) => {
    const page = await browser.newPage();
    const read = await page.evaluate(`(${READ_XML})(${JSON.stringify(renderJunit(report, PLAIN))})`);
    expect(read).toEqual({ errors: 0, counts, stated: [counts.cases, counts.failures, counts.skipped] });
    await page.close();
  });
});
