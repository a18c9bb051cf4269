import { expect, it } from 'vitest';
import { withAssembly } from '../../../src/cli/flags/config-flags.ts';
import { readSettings } from '../../../src/portico-settings.ts';

// A command that connected to Redis would write a log line to its output, which is often JSON for other programs.
it('a command that inspects the gateway does not connect to Redis', async () => {
  const { settings } = readSettings({ env: { REDIS_URL: 'redis://127.0.0.1:1' }, cwd: process.cwd() });
  expect(await withAssembly(settings, ({ services }) => services.sharing.status())).toBeUndefined();
});
