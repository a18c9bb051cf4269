import { expect, it } from 'vitest';
import { needsProgram } from '../builders/needs-program.ts';
import { withConsole } from './console-fixture.ts';
import { soon } from './open-console.ts';

const LIST = '/services/v2/idea.json';

needsProgram('chromium', 'the page of overrides', (path) => {
  const { gateway, visit } = withConsole(path, { ownClock: true });

  it('sets an override with a reason and an end, shows it on every page, and ends it', async () => {
    await visit('#/levels', async (page) => {
      await page.getByText('No override is active.').waitFor();
      await page.getByRole('button', { name: 'Set an override' }).click();
      const dialog = page.getByRole('dialog');
      // No operation is preselected, so that nobody changes one by mistake.
      expect(await dialog.getByLabel('Operation').inputValue()).toBe('');
      await dialog.getByLabel('Operation').selectOption('listIdeas');
      await dialog.getByLabel('Change').selectOption('disable');
      await dialog.locator('select[name=level]').waitFor({ state: 'detached' });
      await dialog.getByLabel('For how long?').selectOption('30 minutes');
      await dialog.getByLabel('Why?').fill('INC-17: <b>too many</b> requests');
      await dialog.getByRole('button', { name: 'Set' }).click();
      const row = page.getByRole('region', { name: 'Active overrides' }).getByRole('row', { name: /^listIdeas/ });
      // The reason is shown as plain text, along with the name with which the operator signed in.
      await row.getByText('INC-17: <b>too many</b> requests').waitFor();
      await row.getByText('operator, 127.0.0.1').waitFor();
      await row.getByText(/^in (?:29|30) min/).waitFor();
      expect((await gateway().call(LIST)).status).toBe(503);
      await soon(page, page.getByRole('link', { name: '1 override', exact: true }).waitFor());
      await row.getByRole('button', { name: 'End now disable of listIdeas' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'End now' }).click();
      await page.getByText('No override is active.').waitFor();
      const trail = page.getByRole('region', { name: 'The latest changes' });
      await trail.getByRole('row', { name: /ended listIdeas disable/ }).waitFor();
      await trail.getByRole('row', { name: /set listIdeas disable/ }).waitFor();
    });
    expect((await gateway().call(LIST)).status).toBe(200);
  });

  it('names the field that the gateway refuses, and keeps the form', async () => {
    await visit(
      '#/levels',
      async (page) => {
        await page.getByRole('button', { name: 'Set an override' }).click();
        const dialog = page.getByRole('dialog');
        // The gateway checks the reason; the page does not.
        await dialog.getByLabel('Operation').selectOption('listExpertise');
        await dialog.getByLabel('Change').selectOption('force-stale');
        await dialog.getByLabel('How stale').fill('60');
        await dialog.getByLabel('Why?').fill('password=hunter2secret');
        await dialog.getByRole('button', { name: 'Set' }).click();
        await dialog.getByRole('alert').getByText('must not contain a credential').waitFor();
        expect(await dialog.getByLabel('Why?').getAttribute('aria-invalid')).toBe('true');
        expect(await dialog.getByLabel('Why?').inputValue()).toBe('password=hunter2secret');
      },
      { tolerate: /400/ },
    );
  });
});
