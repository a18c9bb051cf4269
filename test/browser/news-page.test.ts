import { readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { atomFeed } from '../../src/features/changes/atom.ts';
import { startReferenceServer } from '../../src/reference/start-reference-server.ts';
import { cleanUpAfterFile } from '../builders/clean-up.ts';
import { closeServer } from '../builders/close-server.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { TOKENS_ON } from '../builders/tokens-on.ts';
import { eventually } from '../builders/until.ts';
import { ADMIN_TOKEN, withTokens } from '../features/tokens/token-gateway.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { launch } from './launch.ts';

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'examples', 'changes', 'news.html');

/** Runs in the browser: parses an Atom feed. */
const READ_ATOM = `(xml) => {
  const document = new DOMParser().parseFromString(xml, 'application/xml');
  const textOf = (name) => [...document.querySelectorAll(name)].map(({ textContent }) => textContent);
  return {
    errors: textOf('parsererror'),
    root: [document.documentElement.namespaceURI, document.documentElement.localName],
    ids: textOf('id'),
    titles: textOf('entry > title'),
    contents: textOf('entry > content'),
    updated: textOf('updated'),
  };
}`;

needsProgram('chromium', 'the browser page of the guide', (path) => {
  let browser: Browser;
  let gateway: TestGateway;
  let origin: string;
  beforeAll(async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'password'), 'alice\n', { mode: 0o600 });
    const server = createServer((_request, response) =>
      response.writeHead(200, { 'Content-Type': 'text/html' }).end(readFileSync(PAGE)),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanUpAfterFile(() => closeServer(server));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const reference = await startReferenceServer();
    cleanUpAfterFile(() => reference.close());
    [browser, gateway] = await Promise.all([
      launch(path),
      startTestGateway({
        upstream: reference,
        env: { PORTICO_ADMIN_TOKEN: ADMIN_TOKEN },
        config: {
          cors: { origins: [origin] },
          tokens: TOKENS_ON,
          readableSecrets: 'allow',
          changes: {
            username: 'alice',
            passwordFile: join(folder, 'password'),
            folder: ':memory:',
            everySeconds: 1,
            requestsPerMinute: 600,
          },
        },
      }),
    ]);
    const read = 'portico_changes_readings_total{list="listQuestions",outcome="complete"}';
    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
    await eventually(async () => (await gateway.admin('/metrics', { headers })).text.includes(read));
  });

  /** Opens the page, enters a credential, and returns what the page says about itself and what it shows. */
  async function open(credential: string, address = gateway.url) {
    const context = await browser.newContext();
    cleanUpAfterFile(() => context.close());
    const page = await context.newPage();
    await page.goto(origin);
    await page.getByLabel('Gateway').fill(address);
    await page.getByLabel('Token, or name:password').fill(credential);
    await page.getByRole('button', { name: 'Start' }).click();
    return { page, state: page.getByRole('status'), news: page.getByRole('listitem') };
  }

  async function comment(): Promise<string> {
    const [question] = (await gateway.call('/services/v2/question.json?pageSize=1', { user: 'alice' })).json.list;
    const target = `/services/v2/node/${question.id}/comment.json`;
    await gateway.call(target, { user: 'alice', method: 'POST', body: { body: 'Hello' } });
    return question.title;
  }

  it.each(['password', 'token'])('shows what happens, to somebody who enters a %s', async (what) => {
    const parts = { upstream: await startFakeUpstream(() => ({})), clock: createTestClock(), file: ':memory:' };
    const credential =
      what === 'password'
        ? 'alice:alice'
        : (
            await withTokens(gateway, parts).create({
              scope: ['View the questions list'],
              operations: ['listQuestions'],
            })
          ).token;
    const { page, state, news } = await open(credential);
    await state.getByText('Connected.').waitFor();
    const title = await comment();
    await news.first().waitFor();
    expect(await news.first().textContent()).toBe(`question.changed: ${title}`);
    await page.close();
  });

  it('says why nothing is shown to somebody whose password is wrong', async () => {
    const { page, state, news } = await open('alice:wrong');
    await state.getByText(/credential|password|refused/i).waitFor();
    expect(await news.count()).toBe(0);
    await page.close();
  });

  it('connects although the address ends with a slash', async () => {
    const { page, state } = await open('alice:alice', `${gateway.url}/`);
    await state.getByText('Connected.').waitFor();
    await page.close();
  });

  it('lets somebody correct an address at which no gateway responds', async () => {
    const { page, state } = await open('alice:alice', 'http://127.0.0.1:1');
    await state.getByText(`cors.origins does not list ${origin}`).waitFor();
    expect(await page.getByLabel('Gateway').isVisible()).toBe(true);
    await page.close();
  });

  it('an Atom feed is well formed, whatever users write', async () => {
    const hostile = '</title>]]><![CDATA[ & "x" \'y\' \u0000\u0008\u000b\ufffe\ud800 😀 <script>alert(1)</script>';
    const event = (number: number) => ({
      number,
      at: Date.UTC(2026, 0, number),
      source: 'listBooks',
      kind: 'book.created',
      target: { type: 'book', id: hostile },
      title: hostile,
      data: JSON.stringify({ hostile }),
    });
    const head = { list: 'listBooks', summary: hostile, lineage: '0badcafe', at: 0, self: '/a?b&c' };
    const page = await browser.newPage();
    const read = await page.evaluate(`(${READ_ATOM})(${JSON.stringify(atomFeed(head, [event(2), event(1)]))})`);
    await page.close();
    const shown = Array.from(hostile)
      .filter((one) => !'\0\u0008\u000b\ufffe\ud800'.includes(one))
      .join('');
    expect(read).toEqual({
      errors: [],
      root: ['http://www.w3.org/2005/Atom', 'feed'],
      ids: ['urn:portico:changes:0badcafe:listBooks', 'urn:portico:change:0badcafe.2', 'urn:portico:change:0badcafe.1'],
      titles: [1, 2].map(() => `${shown} (book.created book ${shown})`),
      contents: [1, 2].map(() => JSON.stringify({ hostile }).replaceAll('\ufffe', '')),
      updated: ['2026-01-02T00:00:00.000Z', '2026-01-02T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
    });
  });
});
