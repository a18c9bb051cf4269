import { spawnSync } from 'node:child_process';
import { join, matchesGlob } from 'node:path';
import { readCommandLine, wrongUsage } from '../command-line.ts';
import { GUARDED, type Guarded, sourceFiles } from './guarded.ts';
import { runTable } from './run-table.ts';

const HELP = `Changes the sources that guard something, and checks that a test then fails. Stryker makes the changes
(mutants) in the folders that tools/mutations/guarded.ts lists. It repeats only what a changed source or test affects.

Usage: npm run mutations [-- [FLAGS] [PATTERN]...]

  PATTERN              Only these folders or files, such as src/engine/privacy or 'src/engine/privacy/**'. The required
                       score applies only to complete folders. With --table: only guards whose file or description
                       contains this word; if there are several words, all of them must occur.
  --mutate PATTERN     The same as PATTERN. May be repeated.
  --concurrency N      Number of mutants to test at the same time; by default, one for each core but one.
  --force              Repeat everything.
  --table              Remove the guards in tools/mutations/table.ts instead, which Stryker cannot do.
  --help               Show this help.

The exit code is 0 if all scores are high enough and every removed guard made its test fail, 1 if not, and 2 for a wrong
command line.`;

const { values, words } = readCommandLine(
  HELP,
  {
    mutate: { type: 'string', multiple: true, default: [] },
    concurrency: { type: 'string' },
    force: { type: 'boolean', default: false },
    table: { type: 'boolean', default: false },
  },
  Infinity,
);

/** Returns which files of a guarded source match the patterns. */
function chosenFiles(guarded: Guarded, patterns: readonly string[]): readonly string[] {
  return sourceFiles(guarded).filter((file) =>
    patterns.some((pattern) => file.startsWith(`${pattern.replace(/\/$/, '')}/`) || matchesGlob(file, pattern)),
  );
}

/** Runs Stryker, and returns whether the score is high enough. */
function runStryker(guarded: Guarded, files: readonly string[]): boolean {
  const isWhole = files.length === sourceFiles(guarded).length;
  console.log(`\n${guarded.name}: ${isWhole ? `at least ${guarded.breakAt}%` : files.join(', ')}`);
  const root = join(import.meta.dirname, '../..');
  const stryker = join(root, 'node_modules/@stryker-mutator/core/bin/stryker.js');
  const args = [stryker, 'run', 'tools/mutations/stryker.config.ts', ...(isWhole ? [] : ['--mutate', files.join(',')])];
  if (values.force) args.push('--force');
  if (values.concurrency !== undefined) args.push('--concurrency', values.concurrency);
  const env = { ...process.env, PORTICO_MUTATED: guarded.name, ...(isWhole ? {} : { PORTICO_MUTATED_PART: 'true' }) };
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env }).status === 0;
}

if (values.table) process.exit(runTable(words) ? 0 : 1);
const patterns = [...values.mutate, ...words];
const chosen = GUARDED.map((guarded) => ({
  guarded,
  files: patterns.length === 0 ? sourceFiles(guarded) : chosenFiles(guarded, patterns),
})).filter(({ files }) => files.length > 0);
if (chosen.length === 0) wrongUsage(`No source in tools/mutations/guarded.ts matches ${patterns.join(' ')}`);
const failed = chosen.filter(({ guarded, files }) => !runStryker(guarded, files)).map(({ guarded }) => guarded.name);
if (failed.length > 0) console.error(`\nNot enough mutants were noticed in: ${failed.join(', ')}`);
process.exit(failed.length > 0 ? 1 : 0);
