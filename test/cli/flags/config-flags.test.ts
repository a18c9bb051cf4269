import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { withAssembly } from '../../../src/cli/flags/config-flags.ts';
import { readSettings } from '../../../src/portico-settings.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { runInProcess } from '../run-in-process.ts';

// A command that connected to Redis would write a log line to its output, which is often JSON for other programs.
it('a command that inspects the gateway does not connect to Redis', async () => {
  const { settings } = readSettings({ env: { REDIS_URL: 'redis://127.0.0.1:1' }, cwd: process.cwd() });
  expect(await withAssembly(settings, ({ services }) => services.sharing.status())).toBeUndefined();
});

it('a walk can ask the server to which the gateway mirrors and moves callers', async () => {
  const folder = tempFolder();
  const file = join(folder, 'portico.yaml');
  const url = 'http://127.0.0.1:9';
  const second = { mirror: { url, share: 1 }, cutover: { url, operations: { '*': { share: 0 } } } };
  writeFileSync(
    file,
    JSON.stringify({
      upstream: { url: 'http://127.0.0.1:1' },
      roles: { file: resolve('config/roles.yaml') },
      ...second,
    }),
    { mode: 0o600 },
  );
  const walk = await runInProcess(['check', '--config', file, '--against', url, '--ledger', ':memory:']);
  expect(walk.err).toContain(`${url} does not respond`);
  const wrong = await runInProcess(['check', '--config', file, '--upstream', url]);
  expect(wrong.err).toContain('is the address of the upstream itself');
});
