import { expect, it } from 'vitest';
import { needsProgram } from '../builders/needs-program.ts';
import { withConsole } from './console-fixture.ts';

needsProgram('chromium', 'the page of permissions', (path) => {
  const { visit } = withConsole(path, { token: false });

  it('shows the permissions of each role and account', async () => {
    await visit('#/permissions', async (page) => {
      const accounts = page.getByRole('region', { name: 'Permissions of each account' });
      await accounts.getByRole('columnheader', { name: 'alice' }).waitFor();
      const row = accounts.getByRole('row', { name: /^listGroupUsers/ });
      expect(await row.getByText('denied').count()).toBeGreaterThan(0);
      expect(await row.getByText('allowed').count()).toBeGreaterThan(0);
      await page.getByRole('region', { name: 'Permissions of each role' }).waitFor();
    });
  });

  it('fits on a narrow window: neither the page nor a matrix must be scrolled sideways', async () => {
    await visit(
      '#/permissions',
      async (page) => {
        await page.getByRole('columnheader', { name: 'private comments' }).waitFor();
        for (const width of [768, 1024, 1280]) {
          await page.setViewportSize({ width, height: 900 });
          const wide = await page.evaluate<string[]>(
            `[document.documentElement, ...document.querySelectorAll('main .scroll')]
              .filter((one) => one.scrollWidth > one.clientWidth)
              .map((one) => one.getAttribute('aria-label') ?? 'the page')`,
          );
          expect([width, wide]).toEqual([width, []]);
        }
      },
      { viewport: { width: 768, height: 900 } },
    );
  });

  it('explains a decision step by step at an address that can be shared, and reports what is wrong with a target', async () => {
    await visit(
      '#/permissions',
      async (page) => {
        await page.getByLabel('Target').fill('/services/v2/group/1/user.json');
        await page.getByLabel('Account', { exact: true }).fill('alice');
        await page.getByRole('button', { name: 'Explain' }).click();
        await page.getByText('403 permission_denied').waitFor();
        await page.getByLabel('Account', { exact: true }).fill('admin');
        await page.getByRole('button', { name: 'Explain' }).click();
        await page.getByText('forwarded (cache: miss)').waitFor();
        await page.reload();
        await page.getByText('forwarded (cache: miss)').waitFor();
        await page.getByLabel('Method').selectOption('POST');
        await page.getByLabel('Target').fill('/services/v2/users/gdpr/upload.json');
        await page.getByLabel('JSON body').fill('{"content": 7}');
        await page.getByRole('button', { name: 'Explain' }).click();
        await page.getByText('400 invalid_body: /content must be string').waitFor();
        expect(page.url()).toContain('upload.json');
        expect(page.url()).not.toContain('content');
        await page.getByLabel('Target').fill('question.json');
        await page.getByRole('button', { name: 'Explain' }).click();
        await page.getByText('The target must begin with a slash').waitFor();
        expect(await page.getByLabel('Target').getAttribute('aria-invalid')).toBe('true');
        // The browser reports the 400 response in its own console.
      },
      { tolerate: /400/ },
    );
  });
});
