import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exampleResponse } from '../builders/example-response.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { startTestGateway } from '../builders/test-gateway.ts';
import { eventually } from '../builders/until.ts';
import { launch } from './launch.ts';
import { openConsole, openContext, TOKEN } from './open-console.ts';

needsProgram('chromium', 'the page of the mirror', (path) => {
  it('shows how much was compared, and both sides of a difference without their values', async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    const second = await startFakeUpstream((request) => {
      const usual = exampleResponse(request) as { json: { list: object[] } };
      return {
        json: { ...usual.json, list: usual.json.list.map((item) => Object.assign({}, item, { title: 'a secret' })) },
      };
    });
    const baseline = join(tempFolder(), 'baseline.yaml');
    writeFileSync(baseline, 'accepted: []\n');
    const mirror = { url: second.url, label: '2.17', share: 1, askAgainMs: 0, file: ':memory:' };
    const config = { mirror, contract: { baseline }, adminToken: TOKEN };
    const gateway = await startTestGateway({ upstream, real: true, config });
    await gateway.call('/services/v2/question.json', { user: null });
    await gateway.call('/services/v2/idea.json');
    await eventually(async () => {
      const { text } = await gateway.admin('/mirror', { headers: { Authorization: `Bearer ${TOKEN}` } });
      return (JSON.parse(text) as { operations: unknown[]; findings: unknown[] }).findings.length > 0;
    });
    const context = await openContext(await launch(path), gateway.adminUrl);
    const { page, troubles } = await openConsole(context, gateway.adminUrl, '#/mirror');
    await page.getByText(/^2\.17 at http:\/\/127\.0\.0\.1:\d+, compared with the upstream since /).waitFor();
    await page
      .getByRole('row', {
        name: /^listQuestions 1 0 0 1 0 0 100% of 1 100% 100% of 1 \D*[\d.]+ m?s → \D*[\d.]+ m?s \D*[\d.]+ m?s → \D*[\d.]+ m?s$/,
      })
      .waitFor();
    const readiness = page.getByRole('region', { name: 'Readiness of each operation' });
    expect(await readiness.evaluate((region) => region.scrollWidth - region.clientWidth)).toBe(0);
    await page
      .getByRole('row', { name: /another value .*\/list\/\*\/title text of \d+ characters text of 8 characters/ })
      .waitFor();
    await page.getByRole('row', { name: /^listIdeas credential 1$/ }).waitFor();
    await page.getByText('Side by side').click();
    await page.getByRole('row', { name: /^title text of \d+ characters text of 8 characters$/ }).waitFor();
    await page.getByRole('button', { name: /^Accept: .*another value/ }).click();
    await page.getByLabel('Why is it accepted?').fill('renamed');
    await page.getByLabel('Who is responsible?').fill('web');
    await page.getByRole('button', { name: 'Accept', exact: true }).click();
    await page.getByText('accepted by web').waitFor();
    // The bounds follow: nothing is left that nobody has accepted.
    await page.getByRole('row', { name: /^listQuestions 1 0 0 1 1 0 100% of 1 / }).waitFor();
    expect(readFileSync(baseline, 'utf8')).toContain('owner: web');
    expect(await page.content()).not.toContain('a secret');
    expect(troubles).toEqual([]);
    await context.close();
  });
});
