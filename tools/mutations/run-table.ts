import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { wrongUsage } from '../command-line.ts';
import { type Mutation, MUTATIONS, patternOf } from './table.ts';

const root = path.resolve(import.meta.dirname, '../..');
const NOT_COPIED = new Set(['node_modules', '.git', '.stryker', 'dist', 'coverage']);

/**
 * The result of a mutation. `text` is the name of the test that failed, or the reason why the mutation could not be
 * tested.
 */
interface Outcome {
  readonly state: 'killed' | 'SURVIVED' | 'NOT TRIED';
  readonly text: string;
}

function copyRepository(): string {
  const copy = mkdtempSync(path.join(tmpdir(), 'portico-mutations-'));
  for (const name of readdirSync(root))
    if (!NOT_COPIED.has(name)) cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  return copy;
}

/**
 * Finds the text in the file that the table names or, if it is not there, in the only file in `src` that contains it.
 */
function locate(copy: string, { file, find }: Mutation): { readonly file: string } | { readonly fault: string } {
  const count = (name: string) => [...readFileSync(path.join(copy, name), 'utf8').matchAll(patternOf(find))].length;
  const named = existsSync(path.join(copy, file)) ? count(file) : 0;
  if (named === 1) return { file };
  if (named > 1) return { fault: `the text occurs ${named} times in ${file}; make it longer` };
  const sources = readdirSync(path.join(copy, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => path.join('src', name));
  const [elsewhere, second] = sources.filter((name) => count(name) === 1);
  if (elsewhere === undefined || second !== undefined)
    return {
      fault: `the text is no longer found in ${file}; correct the table, or delete the row if the guard is gone`,
    };
  console.log(`  moved: ${file} is now ${elsewhere}; correct the table`);
  return { file: elsewhere };
}

/** The part of vitest's JSON report that this program reads. */
interface Report {
  readonly testResults: readonly {
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** A hung mutant must be stopped quickly, but tests without a mutation must still pass on a busy machine. */
const TIMEOUT_MS = { mutant: 10_000, baseline: 60_000 };

function run(
  copy: string,
  tests: readonly string[],
  timeoutMs: number,
  more: readonly string[] = [],
): Report | undefined {
  const results = path.join(copy, 'mutation-results.json');
  rmSync(results, { force: true });
  const vitest = path.join(copy, 'node_modules/vitest/vitest.mjs');
  const options = ['--reporter=json', `--outputFile=${results}`, `--testTimeout=${timeoutMs}`, ...more];
  spawnSync(process.execPath, [vitest, 'run', ...tests, ...options], {
    cwd: copy,
    // A skipped test notices no mutation, so a missing program must make the baseline fail.
    env: { ...process.env, PORTICO_REQUIRE_PROGRAMS: '1' },
    stdio: 'ignore',
    timeout: 300_000,
  });
  return existsSync(results) ? (JSON.parse(readFileSync(results, 'utf8')) as Report) : undefined;
}

function failuresOf(report: Report): readonly string[] {
  return report.testResults.flatMap((file) =>
    file.assertionResults.filter((one) => one.status === 'failed').map((one) => one.fullName),
  );
}

const failsToLoad = ({ status, assertionResults }: Report['testResults'][number]) =>
  status === 'failed' && assertionResults.length === 0;

function tryMutation(copy: string, mutation: Mutation, test: string): Outcome {
  const place = locate(copy, mutation);
  if ('fault' in place) return { state: 'NOT TRIED', text: place.fault };
  const file = path.join(copy, place.file);
  const before = readFileSync(file, 'utf8');
  try {
    writeFileSync(
      file,
      before.replace(patternOf(mutation.find), () => mutation.replace),
    );
    const report = run(copy, [test], TIMEOUT_MS.mutant, ['--bail=1']);
    if (report === undefined) return { state: 'NOT TRIED', text: 'the tests did not end' };
    const [failed] = failuresOf(report);
    if (failed !== undefined) return { state: 'killed', text: failed };
    const broken = report.testResults.find(failsToLoad);
    if (broken !== undefined)
      return { state: 'NOT TRIED', text: `the mutant does not load: ${broken.message.split('\n')[0] ?? ''}` };
    return { state: 'SURVIVED', text: `add a test to ${test}` };
  } finally {
    writeFileSync(file, before);
  }
}

/**
 * Returns the test file that the table names or, if it does not exist, the only file in `test` with the same name.
 * Returns undefined if there is no such file.
 */
function testFile(copy: string, { test }: Mutation): string | undefined {
  if (existsSync(path.join(copy, test))) return test;
  const found = readdirSync(path.join(copy, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => path.basename(name) === path.basename(test))
    .map((name) => path.join('test', name));
  if (found.length === 1) console.log(`  moved: ${test} is now ${found[0]}; correct the table`);
  return found.length === 1 ? found[0] : undefined;
}

/** Verifies that all tests pass without a mutation. A test that always fails would seem to detect every mutation. */
function baselineFault(copy: string, tests: readonly string[]): string | undefined {
  const report = run(copy, tests, TIMEOUT_MS.baseline);
  if (report === undefined) return 'the tests did not end';
  const failed = [...failuresOf(report), ...report.testResults.filter(failsToLoad).map(({ message }) => message)];
  return failed.length > 0 ? `these tests fail without a mutation: ${failed.join('; ')}` : undefined;
}

/**
 * Removes the guards in `table.ts` one at a time, in a temporary copy of the repository, and checks that the test of each
 * guard then fails. Prints a line for each, and returns whether all tests failed.
 */
export function runTable(words: readonly string[]): boolean {
  const chosen = MUTATIONS.filter(({ file, why }) => words.every((word) => `${file} ${why}`.includes(word)));
  // Without a test file, vitest would run the whole suite.
  if (chosen.length === 0) wrongUsage(`No mutation matches ${words.join(' ')}`);
  const copy = copyRepository();
  process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
  process.on('SIGINT', () => process.exit(130));

  const located = chosen.map((mutation) => ({ mutation, test: testFile(copy, mutation) }));
  const fault = baselineFault(copy, [...new Set(located.flatMap(({ test }) => test ?? []))]);
  if (fault !== undefined) {
    console.error(fault);
    return false;
  }
  const counts = { killed: 0, SURVIVED: 0, 'NOT TRIED': 0 };
  for (const { mutation, test } of located) {
    const { state, text }: Outcome =
      test === undefined
        ? { state: 'NOT TRIED', text: `no such test file: ${mutation.test}; correct the table` }
        : tryMutation(copy, mutation, test);
    counts[state] += 1;
    console.log(`${state.padEnd(9)} ${mutation.file}: ${mutation.why}\n          ${text}`);
  }
  console.log(`\n${counts.killed} killed, ${counts.SURVIVED} survived, ${counts['NOT TRIED']} not tried`);
  return counts.killed === chosen.length;
}
