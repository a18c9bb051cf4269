import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'portico.mjs');

/** Runs the launcher after a script that makes this Node look like another. */
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
  [
    'a Node without argon2',
    "import crypto from 'node:crypto'; import { syncBuiltinESMExports } from 'node:module'; crypto.argon2 = undefined; syncBuiltinESMExports();",
  ],
])('the launcher says in one line what it needs on %s, and exits 1', (_what, script) => {
  const { status, stdout, stderr } = launchAs(script);
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^portico needs Node\.js 24\.7 or newer.*\n$/);
});

it('the launcher goes on where both are there', () => {
  expect(launchAs('')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string });
});

it('the launcher holds no syntax that old versions of Node stumble over', () => {
  expect(readFileSync(launcher, 'utf8')).not.toMatch(/\?\?|\?\.|^await |from 'node:/m);
});

it('the launcher hands out no names of node:http that load an HTTP client of Node’s own', () => {
  const http = process.getBuiltinModule('node:http');
  const lent = Object.entries(Object.getOwnPropertyDescriptors(http)).filter(
    ([, { get, enumerable }]) => get && enumerable,
  );
  // Two others are plain values behind getters.
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

describe('what Node compiled for one start', () => {
  const folders: string[] = [];
  afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true })));

  /** Starts a release that only says hello, after its folder was prepared; answers with the output and the folder of packages. */
  function start(prepare: (packages: string) => void, env: Readonly<Record<string, string>> = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'portico-launcher-'));
    folders.push(folder);
    const packages = join(folder, 'node_modules');
    prepare(packages);
    return { said: run(folder, env), packages, kept: join(packages, '.cache', 'portico') };
  }

  /** Writes that release into a folder and runs it; returns the exit code and both outputs. */
  function run(folder: string, env: Readonly<Record<string, string>> = {}) {
    const [bin, dist] = [join(folder, 'bin'), join(folder, 'dist', 'cli')];
    for (const made of [bin, dist]) mkdirSync(made, { recursive: true });
    cpSync(launcher, join(bin, 'portico.mjs'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(dist, 'main.js'), "process.stdout.write('hello');");
    const { NODE_DISABLE_COMPILE_CACHE: _off, NODE_COMPILE_CACHE: _elsewhere, ...rest } = process.env;
    const ran = spawnSync(process.execPath, [join(bin, 'portico.mjs')], { encoding: 'utf8', env: { ...rest, ...env } });
    return [ran.status, ran.stdout, ran.stderr];
  }

  const HELLO = [0, 'hello', ''];

  it('is kept for the next one in the folder of packages', () => {
    const { said, kept } = start((packages) => mkdirSync(packages));
    expect(said).toEqual(HELLO);
    expect(readdirSync(kept, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())).not.toEqual([]);
  });

  it('is not kept where the operator says so', () => {
    const { said, kept } = start((packages) => mkdirSync(packages), { NODE_DISABLE_COMPILE_CACHE: '1' });
    expect([said, existsSync(kept)]).toEqual([HELLO, false]);
  });

  it('is kept nowhere without a word where the folder cannot be made', () => {
    const { said, packages } = start((folder) => {
      mkdirSync(folder);
      writeFileSync(join(folder, '.cache'), 'a file');
    });
    expect([said, readFileSync(join(packages, '.cache'), 'utf8')]).toEqual([HELLO, 'a file']);
  });

  it('is stored in the folder of packages that Portico is installed in', () => {
    const folder = mkdtempSync(join(tmpdir(), 'portico-launcher-'));
    folders.push(folder);
    const installed = join(folder, 'node_modules', 'portico');
    const kept = join(folder, 'node_modules', '.cache', 'portico');
    expect(run(installed)).toEqual(HELLO);
    expect(readdirSync(kept, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())).not.toEqual([]);
  });

  it('is kept nowhere where packages are elsewhere', () => {
    const { said, packages } = start(() => undefined);
    expect([said, existsSync(packages)]).toEqual([HELLO, false]);
  });
});
