import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { needsProgram } from '../builders/needs-program.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { startReferenceServer, type ReferenceServer } from '../../src/reference/start-reference-server.ts';
import { launch } from './launch.ts';
import { openConsole } from './open-console.ts';

needsProgram('chromium', 'the page of traffic', (path) => {
  let browser: Browser;
  let reference: ReferenceServer;
  let gateway: TestGateway;
  beforeAll(async () => {
    reference = await startReferenceServer();
    [browser, gateway] = await Promise.all([launch(path), startTestGateway({ upstream: reference })]);
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
    await reference?.close();
  });

  it('shows calls soon after they were made, by operation', async () => {
    const { page, troubles, close } = await openConsole(browser, gateway.adminUrl, '', { token: null });
    await page.getByRole('heading', { name: 'Traffic', level: 1 }).waitFor();
    const row = page.getByRole('row', { name: /listQuestions/ });
    await row.getByRole('cell', { name: '0', exact: true }).first().waitFor();
    await gateway.call('/services/v2/question.json?pageSize=3');
    await gateway.call('/services/v2/question.json?pageSize=3');
    await gateway.call('/services/v2/question.json?page=x');
    await page.getByRole('row', { name: /listQuestions .* 3 / }).waitFor();
    expect(await row.innerText()).toMatch(/50\s?%/);
    expect(troubles).toEqual([]);
    await close();
  });
});
