import { expect, it } from 'vitest';
import { exampleResponse } from '../builders/example-response.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { knowing } from '../builders/knowing-upstream.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { startTestGateway } from '../builders/test-gateway.ts';
import { launch } from './launch.ts';
import { openConsole, openContext, TOKEN } from './open-console.ts';

needsProgram('chromium', 'the page of the cut-over', (path) => {
  it('shows who is served by whom, sets a share in somebody’s name, returns, and resumes', async () => {
    const [old, fresh] = await Promise.all([
      startFakeUpstream(knowing(exampleResponse)),
      startFakeUpstream(knowing(exampleResponse)),
    ]);
    const cutover = { url: fresh.url, file: ':memory:', operations: { '*': { share: 10 } }, allow: ['ann'] };
    const gateway = await startTestGateway({
      upstream: old,
      real: true,
      env: { PORTICO_ADMIN_TOKEN: TOKEN },
      config: { mode: 'strict', cutover },
    });
    await gateway.call('/services/v2/question.json', { user: 'ann', password: 'ann' });
    const context = await openContext(await launch(path), gateway.adminUrl);
    const { page, troubles } = await openConsole(context, gateway.adminUrl, '#/cutover');
    await page.getByRole('row', { name: /^listQuestions 10%$/ }).waitFor();
    await page.getByRole('row', { name: /^listQuestions new 1 0 0 0 / }).waitFor();
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Set a share' }).click();
    await dialog.getByLabel('Percentage of the callers').fill('40');
    await dialog.getByLabel(/^Your name/).fill('ann');
    await dialog.getByLabel(/^Why/).fill('<b>no differences</b>');
    await dialog.getByRole('button', { name: 'Set a share' }).click();
    await page.getByRole('row', { name: /^listQuestions 40%$/ }).waitFor();
    await page.getByRole('row', { name: / ann <b>no differences<\/b>$/ }).waitFor();
    await page.getByRole('button', { name: 'Return' }).click();
    await dialog.getByRole('button', { name: 'Return' }).click();
    await page.getByRole('row', { name: /^listQuestions 0%$/ }).waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await dialog.getByLabel('Your name').fill('ann');
    await dialog.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('row', { name: /^listQuestions 40%$/ }).waitFor();
    expect(troubles).toEqual([]);
    await context.close();
  });
});
