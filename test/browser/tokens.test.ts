import { expect, it } from 'vitest';
import { needsProgram } from '../builders/needs-program.ts';
import { withConsole } from './console-fixture.ts';

const LIST = '/services/v2/question.json';

needsProgram('chromium', 'the page of tokens', (path) => {
  const { gateway, visit } = withConsole(path, {
    config: { upstream: { credentials: { kind: 'service', username: 'admin', password: 'admin' } } },
  });

  it('creates a token, shows it once, and revokes it', async () => {
    let token = '';
    const statusOf = async () =>
      (await gateway().call(LIST, { user: null, headers: { Authorization: `Bearer ${token}` } })).status;
    await visit('#/tokens', async (page) => {
      await page.getByText('There are no tokens.').waitFor();
      await page.getByRole('button', { name: 'Create a token' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('For which account?').fill('alice');
      await dialog.getByLabel('Permissions, groups and flags').fill('View the questions list, View the question page');
      await dialog.getByLabel('What is it for?').fill('<b>chat</b> bot');
      await dialog.getByRole('button', { name: 'Create' }).click();
      token = (await page.getByRole('status').locator('code').textContent()) ?? '';
      expect(token).toMatch(/^ptk_[0-9a-f]{16}_[0-9a-f]{48}$/);
      expect(await statusOf()).toBe(200);
      await page.getByRole('button', { name: 'I have stored it' }).click();
      expect(await page.content()).not.toContain(token);
      const row = page.getByRole('region', { name: 'Tokens' }).getByRole('row', { name: /alice/ });
      await row.getByText('<b>chat</b> bot').waitFor();
      await row.getByRole('button', { name: /^Revoke/ }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await row.getByText('revoked', { exact: true }).waitFor();
    });
    expect(await statusOf()).toBe(401);
  });

  it('names the field that the gateway refuses, and keeps the form', async () => {
    await visit(
      '#/tokens',
      async (page) => {
        await page.getByRole('button', { name: 'Create a token' }).click();
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel('For which account?').fill('bob');
        await dialog.getByLabel('Permissions, groups and flags').fill('View the question list');
        await dialog.getByRole('button', { name: 'Create' }).click();
        await dialog.getByRole('alert').getByText('Did you mean View the questions list?').waitFor();
        expect(await dialog.getByLabel('For which account?').inputValue()).toBe('bob');
      },
      { tolerate: /400/ },
    );
  });
});
