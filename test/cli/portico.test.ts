import { type AddressInfo, createServer } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { parsePhcHash, verifyPassword } from '../../src/engine/identity/password-hash.ts';
import { CHAOS_GRAMMAR, CHAOS_EFFECTS } from '../../src/reference/chaos/chaos-kinds.ts';
import { cleanUpAfterFile } from '../builders/clean-up.ts';
import { OPERATIONS } from '../builders/operations.ts';
import { until } from '../builders/until.ts';
import { runInProcess } from './run-in-process.ts';
import { reportingPackages } from './reporting-packages.ts';
import { type Finished, finished, startPortico, untilSays } from './run-portico.ts';

const started: ReturnType<typeof startPortico>[] = [];
const start = (args: readonly string[], env: Record<string, string> = {}) => {
  const child = startPortico(args, env);
  started.push(child);
  return child;
};

const folders: string[] = [];
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-cli-'));
  folders.push(folder);
  return folder;
};

const configWith = (text: string) => {
  const file = join(newFolder(), 'portico.yaml');
  writeFileSync(file, text);
  return file;
};

const check = (text: string) => runInProcess(['check', '--config', configWith(text)], { PORTICO_ROLES: ROLES });

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

const ROLES = join(import.meta.dirname, '..', '..', 'config', 'roles.yaml');
const FREE = { PORT: '0', ADMIN_PORT: '0', PORTICO_DB: ':memory:' };

describe('portico', () => {
  it('lists its commands and exits with 0 for --help, and with 2 without a command', async () => {
    const help = await runInProcess(['--help']);
    for (const command of COMMANDS) expect(help.out).toContain(command.name);
    expect(help.code).toBe(0);
    expect(await runInProcess([])).toMatchObject({ code: 2, out: '' });
  });

  it.each(['serve', 'reference'])('lists the kinds of chaos and their grammar in the help of %s', async (command) => {
    const { code, out } = await runInProcess([command, '--help']);
    expect(code).toBe(0);
    expect(out).toContain(CHAOS_GRAMMAR);
    for (const [name, meaning] of Object.entries(CHAOS_EFFECTS))
      expect(out).toMatch(new RegExp(`^ +${name} +${RegExp.escape(meaning)}$`, 'm'));
  });

  it('prints its version', async () => {
    expect(await runInProcess(['--version'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
    });
  });

  it('reports all errors of configuration and roles in one run and exits with 1', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'roles.yaml'), 'rolles: {}\n');
    writeFileSync(join(folder, 'portico.yaml'), 'mod: strict\nlisten: { prot: 1 }\n');
    const { code, out, err } = await runInProcess(['check', '--config', join(folder, 'portico.yaml')], { PORT: 'x' });
    expect([code, out]).toEqual([1, '']);
    expect(err.match(/cannot start/g)).toHaveLength(1);
    for (const part of ['/mod\n', 'did you mean mode?', '/listen/prot', 'PORT\n', 'roles.yaml'])
      expect(err).toContain(part);
    expect(err).not.toContain('    at ');
  });
});

describe('portico check', () => {
  it('mentions overlays and a shadow contract, and warns of targets without a match', async () => {
    const overlay = join(newFolder(), 'one.yaml');
    const action = '{ target: $.components.schemas.Qestion, update: {} }';
    writeFileSync(overlay, `overlay: 1.0.0\ninfo: { title: One, version: '1' }\nactions: [${action}]\n`);
    const contract = `contract: { overlays: [${overlay}, ${overlay}], candidate: { overlays: [${overlay}] } }\n`;
    const { code, out, err } = await check(contract);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(
        `${OPERATIONS.length} operations, mode strict, 2 overlays, shadow contract with 1 overlay\n$`,
      ),
    ]);
    expect(err).toContain(`warning: ${overlay} /actions/0/target: selects nothing`);
    expect(err).toContain(`warning: ${overlay} /actions/0/target: the shadow contract: selects nothing`);
    const plan = await runInProcess(['plan', '--config', configWith(contract)], { PORTICO_ROLES: ROLES });
    expect([plan.code, plan.out.trimEnd().split('\n')]).toEqual([
      0,
      expect.objectContaining({ length: OPERATIONS.length + 1 }),
    ]);
    expect(plan.err).toContain('contract: 2 overlays\n');
    writeFileSync(overlay, 'overlay: 2.0.0\n');
    const broken = await check(contract);
    expect([broken.code, broken.out]).toEqual([1, '']);
    expect(broken.err).toContain(`${overlay} /overlay\n    is not a supported version (write overlay: 1.0.0)`);
    expect(broken.err).toContain('the shadow contract: ');
  });

  it('prints OK for the embedded defaults', async () => {
    expect(await runInProcess(['check'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(`^OK: .*${OPERATIONS.length} operations, mode strict\n$`) as string,
    });
  });

  it('loads the configuration of a real upstream without calling it', async () => {
    const { code, out } = await runInProcess(['check', '--upstream', 'http://127.0.0.1:9/qa']);
    expect([code, out]).toEqual([0, expect.stringContaining('mode observe')]);
  });

  it('reports invalid chaos rules, alone and together with other errors', async () => {
    const faults = 'reference: { faults: [slo, "500@99", reset] }\n';
    const alone = await check(faults);
    expect([alone.code, alone.out]).toEqual([1, '']);
    for (const part of [
      '1 configuration error\n',
      '/reference/faults\n',
      'unknown name "slo"',
      'unknown operation 99',
      CHAOS_GRAMMAR,
    ])
      expect(alone.err).toContain(part);
    const { err } = await check(`mod: strict\n${faults}`);
    for (const part of ['2 configuration errors\n', '/mod\n', '/reference/faults\n', 'unknown name "slo"'])
      expect(err).toContain(part);
  });

  it('rejects demo accounts for a real upstream with the verifier file, by name', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'portico.yaml'), 'authentication: { verifier: file }\n');
    const { code, err } = await runInProcess(['check', '--config', join(folder, 'portico.yaml')], {
      UPSTREAM_URL: 'http://127.0.0.1:9',
      PORTICO_ROLES: ROLES,
    });
    expect([code, err]).toEqual([1, expect.stringMatching(/admin, moderator, alice, bob, guest/)]);
  });
});

describe('portico plan, permissions and explain', () => {
  it('print one line per operation and one for undocumented paths', async () => {
    const { code, out } = await runInProcess(['plan']);
    expect([code, out.trim().split('\n').length]).toEqual([0, OPERATIONS.length + 1]);
  });

  it('print the operations of each role and account', async () => {
    const { code, out } = await runInProcess(['permissions']);
    expect([code, out]).toEqual([0, expect.stringMatching(/listQuestions[\s\S]*alice/)]);
  });

  it('explain a request for an account, with or without a method, for a path or a complete URL', async () => {
    const path = '/services/v2/question.json?page=2';
    const explained = await runInProcess(['explain', 'get', path, '--as', 'alice']);
    expect([explained.code, explained.out]).toEqual([0, expect.stringMatching(/alice[\s\S]*listQuestions/)]);
    const copied = await runInProcess(['explain', `http://127.0.0.1:8080${path}`, '--as', 'alice']);
    expect(copied.out).toBe(explained.out);
  });
});

describe('portico hash-password', () => {
  it('prints a valid hash of standard input without its final newline', async () => {
    const { code, out } = await runInProcess(['hash-password'], {}, 'öpen sesame\n');
    const hash = parsePhcHash(out.trim());
    expect(code).toBe(0);
    expect(hash !== undefined && (await verifyPassword('öpen sesame', hash))).toBe(true);
  });

  it('does not repeat a password that was passed as an argument', async () => {
    const { code, out, err } = await runInProcess(['hash-password', 's3cret']);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('enter the password on standard input');
    expect(err).not.toContain('s3cret');
  });

  it('exits with 1 for an empty password', async () => {
    expect(await runInProcess(['hash-password'], {}, '\n')).toMatchObject({ code: 1, out: '' });
  });
});

describe('portico serve in front of the reference server', () => {
  // All tests examine the same run.
  let banner = '';
  let response: Response | undefined;
  let authorization = '';
  let run: Finished;
  beforeAll(async () => {
    const file = configWith('listen: { lameDuckSeconds: 3600 }\n');
    const env = { ...FREE, PORTICO_ROLES: ROLES, ...reportingPackages() };
    const child = startPortico(['serve', '--config', file], env);
    cleanUpAfterFile(() => child.kill('SIGKILL'));
    const end = finished(child);
    banner = await untilSays(child, /portico_checks_total\n/);
    const command = /curl -u (\w+):(\w+) '(http[^']+)'/.exec(banner);
    authorization = `Basic ${Buffer.from(`${command?.[1]}:${command?.[2]}`).toString('base64')}`;
    response = await fetch(command?.[3] ?? '', { headers: { authorization } });
    child.kill('SIGINT');
    run = await end;
  });

  it('prints addresses, mode, accounts and commands to try', () => {
    expect(banner).toMatch(/mode +strict: enforces authentication/);
    expect(banner).toContain('admin, moderator, alice, bob, guest');
    expect(response?.status).toBe(200);
  });

  it('logs requests without their credentials, and does not wait after Ctrl-C', () => {
    expect(run.code).toBe(0);
    expect(run.out).toContain('"operation":"listQuestions"');
    expect(run.out).not.toContain(authorization);
  });

  // Another test (test/features/tracing/trace-exporter.test.ts) checks that packages are reported when they are loaded.
  it('does not load the packages that only some configurations need', () => {
    expect(run.err).not.toContain('LOADED');
  });
});

describe('portico serve', () => {
  it('states in observe mode that nothing is enforced yet, reloads on SIGHUP, and serves after SIGTERM until a second signal ends it', async () => {
    const file = configWith('listen: { lameDuckSeconds: 3600 }\n');
    const child = start(['serve', '--mode', 'observe', '--config', file], { ...FREE, PORTICO_ROLES: ROLES });
    const end = finished(child);
    const banner = await untilSays(child, /portico_checks_total\n/);
    expect(banner).toContain('NOTHING IS ENFORCED YET');
    expect(banner).toContain('PORTICO_MODE=staging');
    // SIGHUP reloads the configuration, but does not report the result to a terminal.
    let log = '';
    child.stdout.on('data', (part) => (log += String(part)));
    child.kill('SIGHUP');
    await until(() => log.includes('"trigger":"signal"'));
    const [, admin = ''] = /(http:\/\/127\.0\.0\.1:\d+)\/metrics/.exec(banner) ?? [];
    child.kill('SIGTERM');
    await untilSays(child, /No longer ready; serving for another 3600 s/);
    expect((await fetch(`${admin}/readyz`)).status).toBe(503);
    // Signals that arrive right after the first one are treated as duplicates of it, so the signal is sent
    // repeatedly.
    const again = setInterval(() => child.kill('SIGTERM'), 100);
    expect((await end).code).toBe(1);
    clearInterval(again);
  });

  it('reports a port in use in one line, and exits with 1', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const { code, err } = await runInProcess(['serve', '--port', String(port), '--db', ':memory:'], FREE);
    taken.close();
    expect(code).toBe(1);
    expect(err).toMatch(new RegExp(`^portico cannot listen on 127\\.0\\.0\\.1:${port}: address already in use.*\\n$`));
  });

  it('reports a file that cannot be used as a database', async () => {
    const { code, err } = await runInProcess(['serve', '--db', '/dev/null/x.db'], FREE);
    expect([code, err]).toEqual([1, expect.stringMatching(/--db\n.*\/dev\/null\/x\.db cannot be used/)]);
    expect(err).not.toContain('    at ');
  });

  it('reports an invalid chaos rule with its flag', async () => {
    const { code, err } = await runInProcess(['serve', '--fault', 'slo'], FREE);
    expect([code, err]).toEqual([1, expect.stringMatching(/--fault\n.*unknown name "slo"/)]);
  });
});

describe('portico reference', () => {
  it('runs the reference server alone under a base path, and exits with 0 on SIGINT', async () => {
    const child = start(['reference', '--port', '0', '--db', ':memory:', '--base-path', '/qa']);
    const end = finished(child);
    const url =
      /Reference server: (\S+)\n[^]*Issue tracker/.exec(await untilSays(child, /Issue tracker.*\n/))?.[1] ?? '';
    expect(url).toMatch(/\/qa$/);
    const authorization = `Basic ${Buffer.from('alice:alice').toString('base64')}`;
    expect((await fetch(`${url}/services/v2/question.json`, { headers: { authorization } })).status).toBe(200);
    child.kill('SIGINT');
    expect((await end).code).toBe(0);
  });
});
