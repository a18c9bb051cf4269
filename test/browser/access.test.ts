import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { describe, expect, it } from 'vitest';
import { needsProgram } from '../builders/needs-program.ts';
import { withConsole } from './console-fixture.ts';
import { launch } from './launch.ts';
import { challenged, TOKEN } from './open-console.ts';

const NASTY = '<img src=x onerror=alert(1)>';

needsProgram('chromium', 'the console', (path) => {
  describe('with a token', () => {
    const { gateway, visit } = withConsole(path);

    it('admits a browser with the token', async () => {
      await visit('', (page) => page.getByRole('heading', { name: 'Traffic', level: 1 }).waitFor(), challenged());
    });

    it('signs out a browser, which then needs the token again', async () => {
      const context = await (await launch(path)).newContext();
      const page = await context.newPage();
      const address = `${gateway().adminUrl}/console/`;
      // Only the first URL contains the token. The browser then remembers it, as it would after a login dialog.
      await page.goto(address.replace('//', `//operator:${TOKEN}@`));
      await page.goto(address);
      await page.getByText('ready', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Signed out' }).waitFor();
      // A headless browser cannot prompt for the token, so it either shows the error response or reports an error.
      const again = await page.goto(address).catch((error: Error) => error);
      if (again instanceof Error) expect(again.message).toContain('ERR_INVALID_AUTH_CREDENTIALS');
      else expect(again?.status()).toBe(401);
      await context.close();
    });

    it('shows an error to a browser with a wrong token', async () => {
      await visit(
        '',
        async (page) => {
          await page.getByRole('heading', { name: 'Access denied' }).waitFor();
          await page.getByText('The admin token is incorrect.').waitFor();
        },
        { ...challenged('something-else'), tolerate: /401/ },
      );
    });
  });

  describe('without a token', () => {
    const { visit } = withConsole(path, { token: false });

    it('is read-only and shows why', async () => {
      await visit('#/cache', async (page) => {
        await page.getByText('read-only', { exact: true }).waitFor();
        await page.getByText('The console is read-only. To make changes here, set PORTICO_ADMIN_TOKEN').waitFor();
        expect(await page.getByRole('button', { name: 'Purge everything' }).isDisabled()).toBe(true);
        await page.getByRole('link', { name: 'Violations' }).click();
        await page.getByText('The console is read-only. To make changes here, set PORTICO_ADMIN_TOKEN').waitFor();
        await page.getByRole('link', { name: 'Levels' }).click();
        await page.getByRole('heading', { name: 'Levels', level: 1 }).waitFor();
        await page.getByText(/set PORTICO_ADMIN_TOKEN/).waitFor();
        expect(await page.getByRole('button', { name: 'Set an override' }).isDisabled()).toBe(true);
      });
    });
  });

  describe('with names that contain markup', () => {
    const file = parse(readFileSync(new URL('../../config/roles.yaml', import.meta.url), 'utf8')) as {
      roles: Record<string, unknown>;
    };
    const roles = stringify({ ...file, roles: { ...file.roles, [NASTY]: { permissions: ['View list idea'] } } });
    const { gateway, visit } = withConsole(path, {
      chaos: [`extra-field:${NASTY}@8`],
      roles,
      config: { authentication: { realm: NASTY } },
    });

    it('shows them as text: a role, a configuration value, a target to explain', async () => {
      await visit('#/permissions', async (page) => {
        await page.getByRole('columnheader', { name: NASTY }).first().waitFor();
        await page.getByLabel('Target').fill(`/services/v2/${NASTY.replaceAll(' ', '')}`);
        await page.getByLabel('Account', { exact: true }).fill(NASTY);
        await page.getByRole('button', { name: 'Explain' }).click();
        await page.getByText(`${NASTY} (refused)`).waitFor();
        expect(await page.locator('main img').count()).toBe(0);
        await page.evaluate("location.hash = '#/configuration?text=realm'");
        await page.getByText(JSON.stringify(NASTY)).waitFor();
        expect(await page.locator('main img').count()).toBe(0);
      });
    });

    it('shows only what the ledger stores about an upstream field', async () => {
      await gateway().call('/services/v2/idea.json', { user: 'moderator' });
      await visit('#/violations', async (page) => {
        await page.locator('tbody a').first().waitFor();
        expect(await page.locator('main img').count()).toBe(0);
        expect(await page.locator('main').innerHTML()).not.toContain('onerror=alert(1)>');
      });
    });
  });

  describe('of the configuration', () => {
    const { visit } = withConsole(path, {
      real: true,
      env: { UPSTREAM_USERNAME: 'robot', UPSTREAM_PASSWORD: 'planted-password' },
      config: { checks: { authentication: 'enforce', permissions: 'enforce' }, mode: 'staging' },
    });

    it('shows the source of each value, and no secret', async () => {
      await visit('#/configuration', async (page) => {
        const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name} `) });
        expect(await row('upstream.credentials.password').innerText()).toMatch(/secret[^]*environment/);
        expect(await row('adminToken').innerText()).toMatch(/secret[^]*PORTICO_ADMIN_TOKEN/);
        expect(await row('mode').innerText()).toMatch(/"staging"[^]*file/);
        expect(await row('listen.drainSeconds').innerText()).toMatch(/file/);
        expect(await row('cache.maxBytes').innerText()).toMatch(/default/);
        const text = await page.content();
        for (const secret of [TOKEN, 'planted-password']) expect(text).not.toContain(secret);
      });
    });
  });
});
