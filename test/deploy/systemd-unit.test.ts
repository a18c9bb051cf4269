import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROGRAM } from '../../src/cli/commands.ts';
import { runProgram } from '../../src/cli/run-program.ts';
import { variablesOf } from '../../src/engine/config/config-sources.ts';
import { PORTICO } from '../../src/portico-settings.ts';
import { LISTEN_DEFAULTS } from '../../src/engine/config/general-options.ts';
import { packageRoot } from '../../src/lib/package-root.ts';
import { hashPassword } from '../../src/engine/identity/password-hash.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { processIoOf } from '../cli/process-io-of.ts';
import { deployFile } from './image.ts';

const UNITS = ['portico.service', 'portico@.service'] as const;
type UnitName = (typeof UNITS)[number];
const unitOf = (name: UnitName) => deployFile(name);
/** Returns a unit with all of its optional secrets. */
const withSecrets = (name: UnitName) => unitOf(name).replaceAll(/^#(?=LoadCredential=|Environment=)/gm, '');

/** Returns the values of a setting, in order. */
const valuesOf = (text: string, name: string) =>
  [...text.matchAll(new RegExp(`^${name}=-?(.*)$`, 'gm'))].map(([, value = '']) => value);

/** Returns the environment variables that a unit or an environment file sets. */
const variablesIn = (assignments: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    assignments.flatMap((line) => line.split(' ')).map((one) => one.split(/=(.*)/s, 2) as [string, string]),
  );

/** Returns the commands in the comment at the top of a unit. */
const commandsIn = (text: string) =>
  [...(text.split('[Unit]')[0] ?? '').matchAll(/^# {3}(\S.*)$/gm)].map(([, command = '']) => command);

describe.each(UNITS)('the systemd unit %s', (name) => {
  const unit = unitOf(name);

  it('passes each secret and the roles as a credential, whose file a variable of Portico names', () => {
    const credentials = valuesOf(withSecrets(name), 'LoadCredential').map((one) => one.split(':'));
    expect(credentials.map(([id]) => id)).toEqual([
      'admin-token',
      'roles.yaml',
      'upstream-password',
      'redis-url',
      'tokens-key',
      'tokens-sealing-key',
    ]);
    for (const [id = '', path] of credentials) {
      expect(path).toBe(`/etc/portico/credentials/${id}`);
      const variable = valuesOf(withSecrets(name), 'Environment').find((one) => one.endsWith(`=%d/${id}`));
      expect(Object.keys(variablesOf(PORTICO))).toContain(variable?.split('=')[0]);
    }
    // systemd does not start a unit if a credential's file is missing, so by default the unit loads only the files that
    // the installation creates.
    expect(valuesOf(unit, 'LoadCredential').map((one) => one.split(':')[0])).toEqual(['admin-token', 'roles.yaml']);
  });

  it('stores its data where it may write, and waits for draining', () => {
    const folder = name === 'portico.service' ? 'portico' : 'portico-%i';
    expect(valuesOf(unit, 'WorkingDirectory')).toEqual([`%S/${folder}`]);
    expect(valuesOf(unit, 'StateDirectory')).toEqual([folder]);
    const [stop = 0] = valuesOf(unit, 'TimeoutStopSec').map(Number);
    expect(stop).toBeGreaterThan(LISTEN_DEFAULTS.lameDuckSeconds + LISTEN_DEFAULTS.drainSeconds);
  });

  it.each(['the default secrets', 'all secrets'])(
    'accepts an installation by the steps of the comment with %s, with hashes in the roles file',
    async (secrets) => {
      const text = secrets === 'all secrets' ? withSecrets(name) : unit;
      const folder = tempFolder();
      const [etc, state, credentials, sources] = ['etc', 'state', 'credentials', 'sources'].map((one) =>
        join(folder, one),
      ) as [string, string, string, string];
      for (const made of [credentials, sources]) mkdirSync(made);
      writeFileSync(
        join(sources, 'portico.yaml'),
        'mode: strict\nauthentication: { verifier: file }\nlisten: { reusePort: true }\nroles: { unmapped: deny }\n',
      );
      const hash = await hashPassword('a-password', { memory: 8, passes: 1, parallelism: 1 });
      writeFileSync(
        join(sources, 'roles.yaml'),
        `roles:\n  anonymous: { permissions: [] }\naccounts:\n  - { name: alice, roles: [], passwordHash: "${hash}" }\n`,
      );
      writeFileSync(
        join(sources, 'portico.env'),
        'PORTICO_CONFIG=/etc/portico/portico.yaml\nUPSTREAM_URL=http://127.0.0.1:9\n',
      );
      // Both units are installed by the steps in portico.service; only the last command, which enables them, differs.
      const steps = commandsIn(unitOf('portico.service')).filter((one) => !one.startsWith('systemctl '));
      const installed = (one: string) => one.replaceAll('/etc', etc);
      for (const step of steps) {
        const { status, stderr } = spawnSync('sh', ['-c', installed(step)], { cwd: sources, encoding: 'utf8' });
        expect([step, stderr, status]).toEqual([step, '', 0]);
      }
      for (const [id, secret] of [
        ['upstream-password', 'a-password'],
        ['redis-url', 'redis://127.0.0.1:6379'],
        ['tokens-key', 'a'.repeat(48)],
        ['tokens-sealing-key', 'b'.repeat(48)],
      ] as const)
        writeFileSync(join(etc, 'portico', 'credentials', id), `${secret}\n`, { mode: 0o600 });
      // Any user may read the configuration, and none except root the secrets.
      const modeOf = (path: string) => statSync(installed(path)).mode & 0o777;
      expect(modeOf('/etc/portico') & 0o005).toBe(0o005);
      expect(modeOf('/etc/portico/portico.yaml') & 0o004).toBe(0o004);
      for (const path of ['/etc/portico/credentials', '/etc/portico/portico.env']) expect(modeOf(path) & 0o077).toBe(0);
      // systemd copies the credentials, and makes the copies readable only by the service's user. No other path in
      // /etc/portico/credentials can be used by the service.
      for (const [id = '', path = ''] of valuesOf(text, 'LoadCredential').map((one) => one.split(':'))) {
        expect(modeOf(path) & 0o077).toBe(0);
        copyFileSync(installed(path), join(credentials, id));
        chmodSync(join(credentials, id), 0o400);
      }
      rmSync(join(etc, 'portico', 'credentials'), { recursive: true });
      const local = (one: string) =>
        one.replaceAll('%S', state).replaceAll('%d', credentials).replaceAll('%i', '8081').replaceAll('%l', 'host');
      const [directory = ''] = valuesOf(text, 'WorkingDirectory').map(local);
      mkdirSync(directory, { recursive: true });
      const file = readFileSync(installed(valuesOf(text, 'EnvironmentFile')[0] ?? ''), 'utf8');
      const env = {
        ...variablesIn(valuesOf(text, 'Environment').map(local)),
        ...variablesIn(installed(file).trim().split('\n')),
        ...(secrets === 'all secrets' && { UPSTREAM_USERNAME: 'portico' }),
      };
      const [command = ''] = valuesOf(text, 'ExecStartPre');
      const [, script = '', ...args] = command.split(' ');
      expect(existsSync(script.replace('/opt/portico', packageRoot))).toBe(true);
      const { io, text: printed } = processIoOf(directory, { env });
      expect(await runProgram(PROGRAM, args, io), printed.err).toBe(0);
    },
  );

  it('is enabled by the last step of its comment, under the name of its file', () => {
    const instances = name === 'portico.service' ? 'portico' : 'portico@8081 portico@8082';
    expect(commandsIn(unit).at(-1)).toBe(`systemctl daemon-reload && systemctl enable --now ${instances}`);
  });
});

describe('the two systemd units', () => {
  it('differ only in what each instance has of its own', () => {
    const settings = (name: UnitName) =>
      withSecrets(name)
        .replace(/^.*?(?=\[Unit\])/s, '')
        .split('\n');
    const [one, several] = UNITS.map(settings) as [string[], string[]];
    const own = /^(?:Description|WorkingDirectory|StateDirectory|Environment=ADMIN_PORT|Environment=PORTICO_LEDGER)/;
    const shared = (lines: readonly string[]) => lines.filter((line) => !line.startsWith('#') && !own.test(line));
    expect(shared(several)).toEqual(shared(one));
    expect(one).toContain('Environment=PORTICO_LEDGER=%S/portico/.portico/ledger.db');
    expect(several).toContain('Environment=ADMIN_PORT=%i PORTICO_INSTANCE=%l-%i');
  });
});

needsProgram('systemd-analyze', 'systemd and the unit', (systemd) => {
  it.each(
    UNITS.flatMap((name) => [
      [name, 'as it is', unitOf(name)] as const,
      [name, 'with all secrets', withSecrets(name)] as const,
    ]),
  )('accepts %s %s, and rates its exposure as low', (name, _, text) => {
    // A template can be verified only as one of its instances.
    const path = join(tempFolder(), name.replace('@', '@8081'));
    // Node might not be installed at this path, so the unit refers to a program that always exists.
    writeFileSync(path, text.replaceAll('/usr/bin/node', '/bin/sh'));
    const verified = spawnSync(systemd, ['verify', path], { encoding: 'utf8' });
    expect([verified.stderr, verified.status]).toEqual(['', 0]);
    const rated = spawnSync(systemd, ['security', '--offline=true', '--threshold=20', path], { encoding: 'utf8' });
    expect([rated.status, rated.stdout]).toEqual([0, expect.stringContaining('OK')]);
  });

  it('would reject a misspelled setting', () => {
    const path = join(tempFolder(), 'portico.service');
    const unit = unitOf('portico.service');
    writeFileSync(path, unit.replaceAll('/usr/bin/node', '/bin/sh').replace('LoadCredential', 'LoadCredentials'));
    expect(spawnSync(systemd, ['verify', path], { encoding: 'utf8' }).stderr).toContain(
      "Unknown key 'LoadCredentials'",
    );
  });
});
