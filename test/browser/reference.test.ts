import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { needsProgram } from '../builders/needs-program.ts';
import { OPERATIONS } from '../builders/operations.ts';
import { withConsole } from './console-fixture.ts';
import { axeFindings } from './axe-findings.ts';

const operation = (page: Page, id: string) => page.locator(`article#${id}`);

async function ready(page: Page, id = 'listQuestions'): Promise<void> {
  await operation(page, id).waitFor();
}

const idsOn = (page: Page) =>
  page.evaluate<string[]>("[...document.querySelectorAll('article.operation')].map(({ id }) => id)");

/** Returns each distinct combination of tag and classes on a page. */
const kindsOn = (page: Page) =>
  page.evaluate<string[]>(
    `[...new Set([...document.querySelectorAll('main *')].map((one) => [one.tagName, ...[...one.classList].sort()].join('.')))].sort()`,
  );

/** The form for the credential. A search for labels on the whole page would examine thousands of elements. */
const form = (page: Page) => page.locator('section:has(> #credential-title)');

async function signIn(page: Page, name: string): Promise<void> {
  await form(page).getByLabel('Name', { exact: true }).fill(name);
  await form(page).getByLabel('Password').fill(name);
}

async function send(page: Page, id: string): Promise<string> {
  await operation(page, id).getByRole('button', { name: /^Send/ }).click();
  const badge = operation(page, id).locator('.reply .badge').first();
  await badge.waitFor();
  return badge.innerText();
}

needsProgram('chromium', 'the API docs in a browser', (path) => {
  const { gateway, visit } = withConsole(path);

  // Rendering all operations takes up most of a visit, so read-only checks share one visit.
  it('shows every operation with its path, parameters, permissions, cache, errors, rules, examples and a form', async () => {
    await visit('reference#listQuestions', async (page) => {
      await ready(page);
      const ids = await idsOn(page);
      expect(ids.toSorted()).toEqual(OPERATIONS.map(({ id }) => id).toSorted());
      expect(await operation(page, 'getComment').locator('.address').innerText()).toBe(
        'GET\n/services/v2/comment/{commentId}.json',
      );

      const listed = await operation(page, 'listQuestions').innerText();
      for (const part of [
        'View the questions list',
        'pageSize',
        'at least 1',
        'stated in the specification',
        '`listCount` is the number of items in `list`.'.replaceAll('`', ''),
        'used if the cache is enabled',
      ])
        expect(listed).toContain(part);
      const upload = operation(page, 'uploadGdprFile');
      await upload.getByText('None of the users exist').click();
      expect(await upload.innerText()).toContain('The provided file does not have a valid user.');
      expect(await upload.innerText()).toContain('personal data: identifiers');

      // The content of a response is expanded level by level.
      const comment = operation(page, 'getComment');
      await comment.getByText('200 The comment').click();
      await comment.getByText('Fields of author').first().click();
      await comment.getByText('Fields of author').first().locator('..').locator('.fields .name').first().waitFor();
      await comment.locator('summary', { hasText: 'Example:' }).first().click();
      await comment
        .getByLabel(/^Example/)
        .first()
        .waitFor();
      expect(await comment.getByText('personal data').count()).toBeGreaterThan(0);
      expect(await comment.getByText('visible only to some callers').count()).toBeGreaterThan(0);

      // Every provenance has words of its own (docs/provenance.md).
      const known = await page.evaluate<string[]>(
        "[...new Set([...document.querySelectorAll('main .badge')].map((one) => one.textContent))]",
      );
      for (const words of [
        'stated in the specification',
        'type stated, values only observed',
        'inferred, not stated',
        'named, but not shown',
      ])
        expect(known).toContain(words);

      // Each form can be sent unchanged, and the page contains no words that only its authors would understand.
      const empty = `[...document.querySelectorAll('.try :is(input:required, textarea)')].filter(({ value }) => value === '').length`;
      expect(await page.evaluate(empty)).toBe(0);
      await page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))");
      const text = await page.locator('main').innerText();
      expect(text.match(/\bx-[a-z-]+|provenance|\brow \d+|list-count|\bpii\b/gi)).toBeNull();
    });
  });

  it('finds operations by words, and opens one by its address', async () => {
    await visit('reference#unwikify', async (page) => {
      await ready(page);
      await page.getByLabel('Search').fill('COMMENT  get');
      await page.getByText('3 operations').waitFor();
      const found = await idsOn(page);
      expect(found).toEqual(['getComment', 'listNodeComments', 'listAnswerComments']);
      await page.getByLabel('Search').fill('nothing such');
      await page.getByText('No operations match this search.').waitFor();
      await page.getByLabel('Search').fill('');
      await page.getByRole('link', { name: 'GET listGroupUsers' }).click();
      expect(page.url()).toMatch(/#listGroupUsers$/);
      await page.locator('article#listGroupUsers h3:focus').waitFor();
      const top = await page.evaluate<number>('document.getElementById("listGroupUsers").getBoundingClientRect().top');
      expect(Math.abs(top)).toBeLessThan(400);
    });
  });

  it("sends requests, shows the gateway's responses and refusals exactly, and stores the credential nowhere", async () => {
    await visit('reference#listQuestions', async (page) => {
      await ready(page);
      const article = operation(page, 'listQuestions');
      expect(await send(page, 'listQuestions')).toBe('401 Unauthorized');
      await signIn(page, 'alice');
      await article.getByLabel('page', { exact: true }).fill('x');
      expect(await send(page, 'listQuestions')).toBe('400 Bad Request');
      expect(await article.getByLabel('Response body').innerText()).toContain('invalid_parameter');

      await article.getByLabel('page', { exact: true }).fill('1');
      await article.getByLabel('pageSize', { exact: true }).fill('2');
      expect(await article.locator('.curl').innerText()).toBe(
        `curl -u alice '${gateway().url}/services/v2/question.json?page=1&pageSize=2'`,
      );
      await article.getByLabel('The same request in').selectOption('fetch');
      expect(await article.getByLabel('The request in fetch').innerText()).toContain('const response = await fetch(');
      await article.getByLabel('The same request in').selectOption('Python');
      expect(await article.getByLabel('The request in Python').innerText()).toContain('import requests');
      expect(await send(page, 'listQuestions')).toBe('200 OK');
      const body: unknown = JSON.parse(await article.getByLabel('Response body').innerText());
      expect(body).toMatchObject({ listCount: 2 });
      await article.getByText(/^\d+ headers$/).click();
      expect(await article.locator('.reply dl').innerText()).toMatch(/x-request-id/i);

      // The credential is in neither the URL nor storage, so it is lost when the page is reloaded.
      const kept = await page.evaluate<string>(
        'JSON.stringify([location.href, {...localStorage}, {...sessionStorage}, document.cookie])',
      );
      expect(kept).not.toContain('alice');
      await page.reload();
      await ready(page);
      expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('');

      await signIn(page, 'admin');
      await operation(page, 'uploadGdprFile')
        .getByLabel('Body', { exact: true })
        .fill('{"content":"username\\nalice\\n"}');
      expect(await send(page, 'uploadGdprFile')).toBe('201 Created');
    });
  });

  // All checks share one visit, which starts on a phone-sized screen in dark mode. This also verifies that a page is
  // correct when it loads in that state, not only after switching to it.
  it('has no axe findings and needs no horizontal scrolling on a desktop and a phone, light and dark', async () => {
    await visit(
      'reference#getComment',
      async (page) => {
        const expectWidth = async (width: number) => {
          const widths = await page.evaluate<[number, number]>('[document.documentElement.scrollWidth, innerWidth]');
          expect(widths[0]).toBeLessThanOrEqual(widths[1]);
          expect(widths[1]).toBe(width);
        };
        await ready(page);
        await signIn(page, 'admin');
        for (const id of ['getComment', 'getGdprJob']) {
          await operation(page, id).locator('summary', { hasText: '200 ' }).first().click();
          await send(page, id);
        }
        await expectWidth(360);
        // Axe takes seconds to check all operations, so all operations are checked only once. In all other states, axe
        // checks two operations that together contain every kind of element.
        const kinds = await kindsOn(page);
        await page.getByLabel('Search').fill('gdpr');
        await page.getByText('2 operations').waitFor();
        expect(await kindsOn(page)).toEqual(kinds);
        const findings: Record<string, string[]> = { 'dark phone': await axeFindings(page, 'colors') };
        await page.emulateMedia({ colorScheme: 'light' });
        findings['light phone'] = await axeFindings(page);
        await page.setViewportSize({ width: 1280, height: 800 });
        await page.emulateMedia({ colorScheme: 'dark' });
        findings['dark desktop'] = await axeFindings(page, 'colors');
        await page.emulateMedia({ colorScheme: 'light' });
        await page.getByLabel('Search').fill('');
        await ready(page);
        await expectWidth(1280);
        expect((await idsOn(page)).length).toBe(OPERATIONS.length);
        // The contents of collapsed responses are hidden, so axe finds nothing in them, but searching them would take
        // up half of its time.
        await page.evaluate(
          "document.querySelectorAll('details.response:not([open]) > :not(summary)').forEach((one) => one.remove())",
        );
        findings['light desktop'] = await axeFindings(page);
        expect(Object.entries(findings).filter(([, found]) => found.length > 0)).toEqual([]);
      },
      { colorScheme: 'dark', viewport: { width: 360, height: 800 } },
    );
  });
});

const named = (operationId: string) => ({
  get: {
    operationId,
    summary: '<b>Finds</b> things',
    'x-provenance': 'observed',
    'x-credential': 'optional',
    'x-requires': { permission: 'View the question page' },
    'x-items-at': 'body',
    responses: {
      '200': {
        description: 'Found.',
        'x-provenance': 'observed',
        content: { 'application/json': { schema: { type: 'object' } } },
      },
      default: { $ref: '#/components/responses/OtherError' },
    },
  },
});

needsProgram('chromium', 'the API docs of a contract with an overlay, without an admin token', (path) => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-overlay-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const names = ['search', 'main', 'app'];
  const overlay = {
    overlay: '1.0.0',
    info: { title: 'More', version: '1' },
    actions: [
      { target: '$.paths', update: Object.fromEntries(names.map((id) => [`/services/v2/${id}.json`, named(id)])) },
    ],
  };
  writeFileSync(join(folder, 'more.yaml'), JSON.stringify(overlay));
  const { visit } = withConsole(path, {
    token: false,
    config: { contract: { overlays: [join(folder, 'more.yaml')] } },
  });

  it('accepts an address that names nothing, and opens operations whose names are common words', async () => {
    await visit('reference#%', async (page) => {
      await ready(page);
      for (const id of names) {
        await page.evaluate(`location.hash = '#${id}'`);
        await page.locator(`article#${id} h3:focus`).waitFor();
        await operation(page, id).getByRole('heading', { name: '<b>Finds</b> things' }).waitFor();
      }
    });
  });

  it('sends only safe requests, and explains why others cannot be sent', async () => {
    await visit('reference#uploadGdprFile', async (page) => {
      await ready(page);
      await signIn(page, 'alice');
      expect(await send(page, 'listQuestions')).toBe('200 OK');
      const upload = operation(page, 'uploadGdprFile');
      expect(await upload.getByRole('button', { name: 'Send POST' }).isDisabled()).toBe(true);
      expect(await upload.locator('.try').innerText()).toContain('PORTICO_ADMIN_TOKEN');
    });
  });
});
