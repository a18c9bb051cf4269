import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'portico.mjs');

/** Runs the launcher after a script that simulates a different version of Node. */
const launchAs = (script: string) =>
  spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(script)}`, launcher, '--version'],
    {
      encoding: 'utf8',
    },
  );

it.each([
  ['an older Node', "Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } });"],
  ['an older Node 24', "Object.defineProperty(process, 'versions', { value: { node: '24.20.0' } });"],
  [
    'a Node without argon2',
    "import crypto from 'node:crypto'; import { syncBuiltinESMExports } from 'node:module'; crypto.argon2 = undefined; syncBuiltinESMExports();",
  ],
])('the launcher reports its requirements in one line on %s, and exits with 1', (_what, script) => {
  const { status, stdout, stderr } = launchAs(script);
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^portico needs Node\.js 24\.21 or newer.*\n$/);
});

it('the launcher continues if both requirements are met', () => {
  expect(launchAs('')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string });
});

it('the launcher does not use syntax that old versions of Node reject', () => {
  expect(readFileSync(launcher, 'utf8')).not.toMatch(/\?\?|\?\.|^await |from 'node:/m);
});

it('the launcher does not import names of node:http that load the HTTP client built into Node', () => {
  const http = process.getBuiltinModule('node:http');
  const lent = Object.entries(Object.getOwnPropertyDescriptors(http)).filter(
    ([, { get, enumerable }]) => get && enumerable,
  );
  // Reading any of the first three properties loads the HTTP client. The other two are getters for plain values.
  expect(lent.map(([name]) => name).toSorted()).toEqual([
    'CloseEvent',
    'MessageEvent',
    'WebSocket',
    'globalAgent',
    'maxHeaderSize',
  ]);
  const loaded =
    "process.on('exit', () => process.stdout.write(String(process.moduleLoadList.some((name) => name.includes('deps/undici/undici')))));";
  expect(launchAs(loaded).stdout).toMatch(/^\d+\.\d+\.\d+\nfalse$/);
  expect(launchAs(`import 'node:http'; ${loaded}`).stdout).toMatch(/\ntrue$/);
});

describe('the compile cache of Node', () => {
  const folders: string[] = [];
  afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true })));

  /**
   * Runs a minimal release in a prepared folder. Returns the result of the run and the paths of its package and cache
   * folders.
   */
  function start(prepare: (packages: string) => void, env: Readonly<Record<string, string>> = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'portico-launcher-'));
    folders.push(folder);
    const packages = join(folder, 'node_modules');
    prepare(packages);
    return { result: run(folder, env), packages, cache: join(packages, '.cache', 'portico') };
  }

  /**
   * Writes the minimal release into a folder and runs it. Returns the exit code, standard output and standard error.
   */
  function run(folder: string, env: Readonly<Record<string, string>> = {}, ...args: readonly string[]) {
    const [bin, dist] = [join(folder, 'bin'), join(folder, 'dist', 'program')];
    for (const made of [bin, dist]) mkdirSync(made, { recursive: true });
    cpSync(launcher, join(bin, 'portico.mjs'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(dist, 'main.js'), "process.stdout.write('hello');");
    const { NODE_DISABLE_COMPILE_CACHE: _off, NODE_COMPILE_CACHE: _folder, ...rest } = process.env;
    const ran = spawnSync(process.execPath, [join(bin, 'portico.mjs'), ...args], {
      encoding: 'utf8',
      env: { ...rest, ...env },
    });
    return [ran.status, ran.stdout, ran.stderr];
  }

  const HELLO = [0, 'hello', ''];

  it('is stored in the folder of packages for the next start', () => {
    const { result, cache } = start((packages) => mkdirSync(packages));
    expect(result).toEqual(HELLO);
    expect(readdirSync(cache, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())).not.toEqual([]);
  });

  // Compiled code depends on V8's flags. If `serve` and the other commands shared a folder, they would keep
  // replacing each other's code.
  it('is stored separately for serve and for other commands, because only serve sets V8 flags', () => {
    const folder = mkdtempSync(join(tmpdir(), 'portico-launcher-'));
    folders.push(folder);
    mkdirSync(join(folder, 'node_modules'));
    const partsAfter = (command: string) => {
      expect(run(folder, {}, command)).toEqual(HELLO);
      return readdirSync(join(folder, 'node_modules', '.cache', 'portico')).length;
    };
    expect(['plan', 'serve', 'doctor', 'serve'].map(partsAfter)).toEqual([1, 2, 2, 2]);
  });

  it('is not stored if the operator disables it', () => {
    const { result, cache } = start((packages) => mkdirSync(packages), { NODE_DISABLE_COMPILE_CACHE: '1' });
    expect([result, existsSync(cache)]).toEqual([HELLO, false]);
  });

  it('is silently not stored if the folder cannot be created', () => {
    const { result, packages } = start((folder) => {
      mkdirSync(folder);
      writeFileSync(join(folder, '.cache'), 'a file');
    });
    expect([result, readFileSync(join(packages, '.cache'), 'utf8')]).toEqual([HELLO, 'a file']);
  });

  it('is stored in the folder of packages that Portico is installed in', () => {
    const folder = mkdtempSync(join(tmpdir(), 'portico-launcher-'));
    folders.push(folder);
    const installed = join(folder, 'node_modules', 'portico');
    const cache = join(folder, 'node_modules', '.cache', 'portico');
    expect(run(installed)).toEqual(HELLO);
    expect(readdirSync(cache, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())).not.toEqual([]);
  });

  it('is not stored if the packages are in another folder', () => {
    const { result, packages } = start(() => undefined);
    expect([result, existsSync(packages)]).toEqual([HELLO, false]);
  });
});
