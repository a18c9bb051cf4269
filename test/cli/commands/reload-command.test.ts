import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { onReloadSignal } from '../../../src/cli/terminal/signals.ts';
import { readSettings } from '../../../src/portico-settings.ts';
import { withUpstreamUrl } from '../../../src/engine/config/settings.ts';
import { createGateway } from '../../../src/engine/gateway.ts';
import { cleanUpAfterFile } from '../../builders/clean-up.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { serve } from '../../engine/http/serve.ts';
import { runInProcess } from '../run-in-process.ts';

/** Starts a gateway with a configuration file that the test can replace. */
async function running(config: Readonly<Record<string, unknown>>) {
  const folder = tempFolder();
  const env = { PORTICO_CONFIG: join(folder, 'portico.yaml'), PORTICO_ROLES: ROLES };
  const write = (next: Readonly<Record<string, unknown>>) =>
    writeFileSync(
      env.PORTICO_CONFIG,
      JSON.stringify({ listen: LISTEN, ledger: { file: ':memory:' }, levels: { file: ':memory:' }, ...next }),
    );
  write(config);
  const read = () => {
    const { settings, faults } = readSettings({ env, cwd: folder });
    return { settings: withUpstreamUrl(settings, 'http://127.0.0.1:9'), faults };
  };
  const gateway = await createGateway(read().settings, {
    env,
    logStream: { write: () => undefined },
    readSettings: read,
  });
  cleanUpAfterFile(() => gateway.close());
  return { write, admin: gateway.adminUrl };
}

const LISTEN = { port: 0, adminPort: 0 };
const ROLES = join(import.meta.dirname, '..', '..', '..', 'config', 'roles.yaml');
const TOKEN = 'the-admin-token';

describe('portico reload', () => {
  it('reloads a running gateway, prints what has changed, and reports all reasons of a refusal', async () => {
    const { write, admin } = await running({ adminToken: TOKEN });
    const reload = (token = TOKEN) => runInProcess(['reload', '--admin', admin], { PORTICO_ADMIN_TOKEN: token });
    write({ adminToken: TOKEN, pageBounds: { maxPageSize: 10 } });
    expect(await reload()).toMatchObject({ code: 0, out: 'Reloaded. Changed:\n  pageBounds.maxPageSize\n' });
    expect(await reload()).toMatchObject({ code: 0, out: 'Reloaded; nothing has changed.\n' });
    write({ adminToken: TOKEN, contract: { baseline: 'none.yaml' } });
    expect(await reload()).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^warning: \S+ .*\/contract\/baseline: the baseline file does not exist/m) as string,
    });
    write({ adminToken: TOKEN, pageBounds: { maxPageSize: 0 }, cach: {} });
    const refused = await reload();
    expect(refused).toMatchObject({ code: 1, out: '' });
    for (const text of [
      'portico cannot reload: 2 configuration errors',
      '/pageBounds/maxPageSize',
      '/cach',
      'stays in use',
    ])
      expect(refused.err).toContain(text);
    expect(await reload('a-wrong-token')).toMatchObject({
      code: 1,
      err: expect.stringContaining('incorrect') as string,
    });
  });

  it('fails if nothing listens at the address, or if it is not the admin side of a gateway', async () => {
    expect(await runInProcess(['reload', '--admin', 'http://127.0.0.1:9'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('no gateway responds at http://127.0.0.1:9') as string,
    });
    const { url } = await serve(createServer((_req, res) => res.end('hello')));
    expect(await runInProcess(['reload', '--admin', url])).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not the admin side') as string,
    });
    expect(await runInProcess(['reload', '--admin', 'nowhere'])).toMatchObject({ code: 2 });
    expect(await runInProcess(['reload'], { ADMIN_PORT: '0' })).toMatchObject({ code: 2 });
  });
});

describe('SIGHUP', () => {
  // A gateway that outlives its terminal would occupy its ports without anyone noticing.
  it('ends a process whose terminal has been closed, and otherwise reloads', () => {
    const done: string[] = [];
    let isGone = false;
    const listeners: (() => void)[] = [];
    onReloadSignal(
      { on: (_signal, listener) => listeners.push(listener) },
      { onReload: () => done.push('reload'), onHangup: () => done.push('end'), isTerminalGone: () => isGone },
    );
    for (const gone of [false, true]) {
      isGone = gone;
      for (const listener of listeners) listener();
    }
    expect(done).toEqual(['reload', 'end']);
  });
});
