import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { needsProgram } from '../builders/needs-program.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { withConsole } from './console-fixture.ts';

// The gateway rereads this overlay on every reload.
const overlay = join(tempFolder(), 'overlay.yaml');
const write = (title: string, more = '') =>
  writeFileSync(
    overlay,
    `overlay: 1.0.0\ninfo: { title: t, version: "1" }\nactions:\n  - target: $.info\n    update: { title: ${title} }\n${more}`,
  );
write('One');

needsProgram('chromium', 'the page of the configuration', (path) => {
  const { gateway, visit } = withConsole(path, { config: { contract: { overlays: [overlay] } } });

  it('reloads the configuration, and shows what has changed or all reasons of a refusal', async () => {
    await visit('#/configuration', async (page) => {
      const reload = async () => {
        await page.getByRole('button', { name: 'Reload' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Reload' }).click();
      };
      write('Two');
      await page.getByRole('button', { name: 'Reload' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      expect(await gateway().metric('portico_reloads_total{outcome="applied"}')).toBe(0);
      await reload();
      await page.getByText('The configuration was reloaded. Changed:').waitFor();
      await page.getByRole('listitem').getByText('the contract').waitFor();
      write('Three', 'extra: 1\nanother: 2\n');
      await reload();
      await page.getByRole('alert').getByText('The reload was refused').waitFor();
      expect(await page.getByRole('alert').getByRole('listitem').count()).toBeGreaterThan(0);
      await page.getByRole('alert').getByText('overlay.yaml').first().waitFor();
    });
    expect(await gateway().metric('portico_reloads_total{outcome="refused"}')).toBe(1);
  });
});
