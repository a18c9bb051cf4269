import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { runProgram } from '../../src/cli/run-program.ts';
import { VARIABLES } from '../../src/config/config-sources.ts';
import { LISTEN_DEFAULTS } from '../../src/config/general-options.ts';
import { packageRoot } from '../../src/files/package-root.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { processIoOf } from '../cli/process-io-of.ts';
import { deployFile } from './image.ts';

const unit = deployFile('portico.service');
/** The unit with all of its optional secrets. */
const withSecrets = unit.replaceAll(/^#(?=LoadCredential=|Environment=)/gm, '');

/** Returns the values of a setting, in order. */
const valuesOf = (text: string, name: string) =>
  [...text.matchAll(new RegExp(`^${name}=-?(.*)$`, 'gm'))].map(([, value = '']) => value);

describe('the systemd unit', () => {
  it('passes each secret as a credential, whose file a variable of Portico names', () => {
    const credentials = valuesOf(withSecrets, 'LoadCredential').map((one) => one.split(':'));
    expect(credentials.map(([name]) => name)).toEqual(['admin-token', 'upstream-password', 'redis-url']);
    for (const [name = '', path] of credentials) {
      expect(path).toBe(`/etc/portico/credentials/${name}`);
      const variable = valuesOf(withSecrets, 'Environment').find((one) => one.endsWith(`=%d/${name}`));
      expect(Object.keys(VARIABLES)).toContain(variable?.split('=')[0]);
    }
    // systemd does not start a unit if a credential's file is missing, so the unit loads only the required secret by
    // default.
    expect(valuesOf(unit, 'LoadCredential')).toHaveLength(1);
  });

  it('stores its data where it may write, and waits for draining', () => {
    expect(valuesOf(unit, 'WorkingDirectory')).toEqual(['%S/portico']);
    expect(valuesOf(unit, 'StateDirectory')).toEqual(['portico']);
    expect(valuesOf(unit, 'Environment')).toContain('PORTICO_LEDGER=%S/portico/.portico/ledger.db');
    const [stop = 0] = valuesOf(unit, 'TimeoutStopSec').map(Number);
    expect(stop).toBeGreaterThan(LISTEN_DEFAULTS.lameDuckSeconds + LISTEN_DEFAULTS.drainSeconds);
  });

  it('checks a configuration with the paths and variables that it sets', async () => {
    const folder = tempFolder();
    const [state, credentials] = [join(folder, 'state'), join(folder, 'credentials')];
    for (const made of [join(state, 'portico'), credentials]) mkdirSync(made, { recursive: true });
    // systemd makes credential files readable only by the service's user.
    for (const [name, text] of [
      ['admin-token', '0f1e2d3c4b5a69788796a5b4c3d2e1f0'],
      ['upstream-password', 'a-password'],
      ['redis-url', 'redis://127.0.0.1:6379'],
    ] as const)
      writeFileSync(join(credentials, name), `${text}\n`, { mode: 0o400 });
    const local = (text: string) => text.replaceAll('%S', state).replaceAll('%d', credentials);
    const variables = valuesOf(withSecrets, 'Environment').map((one) => local(one).split(/=(.*)/s, 2));
    const [command = ''] = valuesOf(unit, 'ExecStartPre');
    const [, script = '', ...args] = command.split(' ');
    expect(existsSync(script.replace('/opt/portico', packageRoot))).toBe(true);
    const env = {
      ...(Object.fromEntries(variables) as Record<string, string>),
      UPSTREAM_URL: 'http://127.0.0.1:9',
      UPSTREAM_USERNAME: 'portico',
      PORTICO_MODE: 'strict',
      PORTICO_ROLES: join(packageRoot, 'config', 'roles.yaml'),
    };
    const { io, text } = processIoOf(local(valuesOf(unit, 'WorkingDirectory')[0] ?? ''), { env });
    expect(await runProgram(COMMANDS, args, io), text.err).toBe(0);
  });
});

needsProgram('systemd-analyze', 'systemd and the unit', (systemd) => {
  it.each([
    ['as it is', unit],
    ['with all secrets', withSecrets],
  ])('accepts it %s, and rates its exposure as low', (_, text) => {
    const path = join(tempFolder(), 'portico.service');
    // Node might not be installed at this path, so the unit refers to a program that always exists.
    writeFileSync(path, text.replaceAll('/usr/bin/node', '/bin/sh'));
    const verified = spawnSync(systemd, ['verify', path], { encoding: 'utf8' });
    expect([verified.stderr, verified.status]).toEqual(['', 0]);
    const rated = spawnSync(systemd, ['security', '--offline=true', '--threshold=20', path], { encoding: 'utf8' });
    expect([rated.status, rated.stdout]).toEqual([0, expect.stringContaining('OK')]);
  });

  it('would reject a misspelled setting', () => {
    const path = join(tempFolder(), 'portico.service');
    writeFileSync(path, unit.replaceAll('/usr/bin/node', '/bin/sh').replace('LoadCredential', 'LoadCredentials'));
    expect(spawnSync(systemd, ['verify', path], { encoding: 'utf8' }).stderr).toContain(
      "Unknown key 'LoadCredentials'",
    );
  });
});
