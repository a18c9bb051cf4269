import { expect, it } from 'vitest';
import { needsProgram } from '../builders/needs-program.ts';
import { withConsole } from './console-fixture.ts';
import { soon } from './open-console.ts';

const LIST = '/services/v2/idea.json';

needsProgram('chromium', 'the page of deprecations', (path) => {
  const { gateway, visit } = withConsole(path, {
    ownClock: true,
    config: {
      deprecation: {
        file: ':memory:',
        entries: [
          {
            operations: ['listIdeas'],
            since: '2020-01-01',
            successor: '/v3/ideas',
            brownouts: [{ from: '2020-02-01', to: '2999-01-01' }],
          },
        ],
      },
    },
  });

  it('shows who uses what by tags, and revokes and restores a brown-out with a reason', async () => {
    expect((await gateway().call(LIST, { user: 'alice' })).status).toBe(503);
    await visit('#/deprecation', async (page) => {
      const usage = page.getByRole('region', { name: 'Usage of what is deprecated' });
      await usage.getByRole('row', { name: /^listIdeas .*operation/ }).waitFor();
      expect(await usage.textContent()).not.toContain('alice');
      const row = page.getByRole('region', { name: 'Brown-outs' }).getByRole('row', { name: /^listIdeas/ });
      await row.getByText('in progress').waitFor();
      await soon(page, page.getByRole('link', { name: 'brown-out', exact: true }).waitFor());
      await row.getByRole('button', { name: /^Revoke/ }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Why?').fill('INC-17: <b>down</b>');
      await dialog.getByRole('button', { name: 'Revoke' }).click();
      await row.getByText('INC-17: <b>down</b>').waitFor();
      await row.getByText('revoked').waitFor();
      expect((await gateway().call(LIST)).status).toBe(200);
      await row.getByRole('button', { name: /^Restore/ }).click();
      await dialog.getByLabel('Why?').fill('INC-17 is over');
      await dialog.getByRole('button', { name: 'Restore' }).click();
      await row.getByText('in progress').waitFor();
    });
    expect((await gateway().call(LIST)).status).toBe(503);
  });
});
