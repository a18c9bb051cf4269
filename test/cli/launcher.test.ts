import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

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
