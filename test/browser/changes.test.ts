import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { cleanUpAfterFile } from '../builders/clean-up.ts';
import { closeServer } from '../builders/close-server.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { eventually } from '../builders/until.ts';
import { withConsole } from './console-fixture.ts';

needsProgram('chromium', 'the page of the change feed', (path) => {
  const folder = tempFolder();
  const secrets = join(folder, 'secrets');
  mkdirSync(secrets);
  writeFileSync(join(folder, 'password'), 'admin\n', { mode: 0o600 });
  // The address of the receiver is known only later, but before the gateway starts.
  const server = createServer((_request, response) => response.writeHead(410).end());
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    writeFileSync(join(secrets, 'team.url'), `http://127.0.0.1:${port}/\n`, { mode: 0o600 });
    cleanUpAfterFile(() => closeServer(server));
  });
  const { gateway, visit } = withConsole(path, {
    config: {
      changes: {
        username: 'admin',
        passwordFile: join(folder, 'password'),
        folder: ':memory:',
        everySeconds: 1,
        requestsPerMinute: 6_000,
        secrets,
        allowPrivate: ['127.0.0.1'],
        webhooks: [{ name: 'team', format: 'slack', account: 'admin' }],
      },
    },
  });

  it('shows the lists, the latest events without their data, and the messages that were given up', async () => {
    await eventually(async () => (await gateway().metric('portico_changes_working')) === 1);
    const complete = 'portico_changes_readings_total{list="listQuestions",outcome="complete"}';
    await eventually(async () => (await gateway().metric(complete)) > 0);
    const [question] = (await gateway().call('/services/v2/question.json')).json.list;
    const body = { body: 'needle-text' };
    await gateway().call(`/services/v2/node/${question.id}/comment.json`, { method: 'POST', body });
    await eventually(async () => (await gateway().metric('portico_changes_dead_letters{webhook="team"}')) > 0);
    await visit('#/changes', async (page) => {
      await page.getByRole('rowheader', { name: 'listQuestions' }).waitFor();
      await page.getByRole('cell', { name: 'question.changed' }).first().waitFor();
      expect(await page.locator('main').textContent()).not.toContain('needle-text');
      await page.getByRole('button', { name: 'Send again' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('rowheader', { name: 'team' }).waitFor();
    });
    const dead = 'portico_changes_deliveries_total{webhook="team",result="dead"}';
    await eventually(async () => (await gateway().metric(dead)) >= 2);
  });
});
