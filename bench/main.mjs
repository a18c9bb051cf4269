// This file is plain JavaScript so that old versions of Node can run it. All other files require the version of Node
// that this repository specifies.
import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('..', import.meta.url));
const nodeOfTheRepository = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));

/**
 * Installs the packages in the lock file unless they are already installed. Exits if the installation fails.
 * @param {string} folder
 * @param {string} name
 */
function install(folder, name) {
  if (existsSync(`${folder}/node_modules/.package-lock.json`)) return;
  process.stderr.write(`installing ${name} (npm ci)\n`);
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) {
    process.stderr.write(`npm ci in ${folder} failed\n`);
    process.exit(1);
  }
}

const args = process.argv.slice(2);
const isOld = Number(process.versions.node.split('.')[0]) < 24;
const isHelp = args.includes('--help');
// The duration of a run includes the installation, so the start time is passed to the new process.
const startedAt = Number(process.env['PORTICO_BENCH_STARTED_AT'] || Date.now());
if (isOld || !isHelp) install(root, 'the packages of the repository');
if (!isHelp) install(here, 'the packages of the benchmark');
// All servers run on the Node of the repository, which an installation has only just brought.
if ((isOld || !isHelp) && existsSync(nodeOfTheRepository) && realpathSync(nodeOfTheRepository) !== process.execPath) {
  const { status } = spawnSync(nodeOfTheRepository, [fileURLToPath(import.meta.url), ...args], {
    stdio: 'inherit',
    env: { ...process.env, PORTICO_BENCH_STARTED_AT: String(startedAt) },
  });
  process.exit(status === null ? 1 : status);
}
const { run } = await import('./run.ts');
process.exitCode = await run(args, startedAt);
