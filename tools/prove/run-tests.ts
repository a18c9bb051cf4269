import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ProofContext, ProofResult } from './proof.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The maximum number of failed tests to list. */
const MAX_NAMED = 10;
/** The time limit for a test that does not set one, in milliseconds. */
const TEST_MS = 600_000;

/** The part of vitest's JSON report that this program reads. */
interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** Runs test files and counts their tests. Tests with random data try many more cases than usual. */
export async function runTests(files: readonly string[]): Promise<ProofResult> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-prove-tests-'));
  const output = join(folder, 'report.json');
  try {
    const args = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', ...files, '--reporter=json'];
    const child = spawn(process.execPath, [...args, `--outputFile=${output}`, `--testTimeout=${TEST_MS}`], {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'pipe'],
      // A test that is skipped proves nothing, so a missing program must make its row red.
      env: { ...process.env, PORTICO_FUZZ: 'long', PORTICO_REQUIRE_PROGRAMS: '1' },
    });
    let errors = '';
    child.stderr.on('data', (part) => (errors = `${errors}${String(part)}`.slice(-2000)));
    await once(child, 'close');
    const report = readReport(output);
    if (report === undefined) return { cases: 0, faults: [`the tests did not end: ${errors.trim()}`], figures: '' };
    return {
      cases: report.numPassedTests,
      faults: faultsIn(report, files),
      figures: files.length === 1 ? '1 test file' : `${files.length} test files`,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  } catch {
    return undefined;
  }
}

function faultsIn({ testResults, numPassedTests }: Report, files: readonly string[]): string[] {
  const failed = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const tests = assertionResults.filter((one) => one.status === 'failed').map((one) => one.fullName);
    return tests.length === 0 && status === 'failed'
      ? [`${name.slice(ROOT.length + 1)}: ${message.split('\n')[0]}`]
      : tests;
  });
  const unseen = files.filter((file) => !testResults.some(({ name }) => name.endsWith(file)));
  const more = failed.length > MAX_NAMED ? [`and ${failed.length - MAX_NAMED} other tests`] : [];
  const none = numPassedTests === 0 ? ['no test passed'] : [];
  return [...failed.slice(0, MAX_NAMED), ...more, ...unseen.map((file) => `${file} was not run`), ...none];
}

/** Removes each guard in the table of mutations. Each must make a test fail. */
export async function runMutations({ tick }: ProofContext): Promise<ProofResult> {
  const child = spawn(process.execPath, [join(ROOT, 'tools/mutations/main.ts'), '--table'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const faults: string[] = [];
  let cases = 0;
  let killed = 0;
  let errors = '';
  child.stderr.on('data', (part) => (errors = `${errors}${String(part)}`.slice(-2000)));
  const closed = once(child, 'close') as Promise<[number | null]>;
  for await (const line of createInterface({ input: child.stdout })) {
    const [, state, mutation] = /^(killed|SURVIVED|NOT TRIED) +(.*)$/.exec(line) ?? [];
    if (state === undefined || mutation === undefined) continue;
    cases += 1;
    tick(`${cases}: ${state}, ${mutation}`);
    if (state === 'killed') killed += 1;
    else faults.push(`${state}: ${mutation}`);
  }
  const [code] = await closed;
  if (code !== 0 && faults.length === 0) faults.push(`the mutations could not be tried: ${errors.trim()}`);
  return { cases, faults, figures: `${killed} of ${cases} guards: a test fails without the guard` };
}
