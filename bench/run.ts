import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Arguments, isNamed, readArguments, USAGE } from './arguments.ts';
import { compareCheckouts } from './against.ts';
import { LOAD_CORE } from './cores.ts';
import { type Machine, readMachine } from './machine.ts';
import { measureLatency } from './measure-latency.ts';
import { measureMemory } from './measure-memory.ts';
import { measureStart } from './measure-start.ts';
import { killAll } from './process-tree.ts';
import { createProgress, type Progress } from './progress.ts';
import { targetsTable } from './report/targets-table.ts';
import { writeReport } from './report/write-report.ts';
import type { Failure, Results } from './results.ts';
import { type RunContext, runScenario, type ScenarioResult } from './run-scenario.ts';
import { allScenarios, latencyScenario, OTHER_PARTS } from './scenarios/all.ts';
import { COMPARED, type Effort, FULL, QUICK, QUICK_COMPARED } from './scenarios/effort.ts';
import { startUpstream } from './start-upstream.ts';
import { judgeTargets } from './targets.ts';
import { addWorktree } from './worktree.ts';

/** Runs the benchmark; answers the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const names = [...allScenarios(FULL).map(({ id }) => id), ...OTHER_PARTS];
  const asked = readArguments(args, names);
  if (typeof asked === 'string') {
    process.stderr.write(`${asked}\n\n${usage(names)}`);
    return 2;
  }
  if (asked.help) {
    process.stdout.write(usage(names));
    return 0;
  }
  const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'));
  const clean = () => {
    killAll();
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', clean);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
  try {
    const session = await openSession(folder, asked.quick ? QUICK : FULL);
    return asked.against === undefined
      ? await measureAll(asked, names, session)
      : await measureAgainst(asked, asked.against, names, session);
  } catch (error) {
    process.stderr.write(`\nthe benchmark failed: ${(error as Error).message}\n`);
    return 1;
  } finally {
    clean();
  }
}

function usage(names: readonly string[]): string {
  return USAGE.replace('NAMES', names.join(', '));
}

/** What both kinds of run begin with. */
interface Session {
  readonly startedAt: string;
  readonly machine: Machine;
  readonly effort: Effort;
  readonly context: RunContext;
}

/** Reads the machine, moves this program off the server's core and starts the upstream. */
async function openSession(folder: string, effort: Effort): Promise<Session> {
  const progress = createProgress();
  const startedAt = new Date().toISOString();
  const machine = await readMachine();
  for (const name of ['taskset', 'wrk']) {
    const reason = machine.missing.get(name);
    if (reason !== undefined) throw new Error(`${name}: ${reason}`);
  }
  if (machine.cores < 2) throw new Error('two cores are needed: one for the server, one for everything else');
  for (const [name, reason] of machine.missing) progress.say(`${name} is left out: ${reason}`);
  spawnSync('taskset', ['-a', '-c', '-p', String(LOAD_CORE), String(process.pid)]);

  const upstream = await startUpstream(folder);
  return {
    startedAt,
    machine,
    effort,
    context: { folder, upstream, progress, missing: machine.missing, warmSeconds: effort.warmSeconds },
  };
}

async function measureAgainst(
  asked: Arguments,
  ref: string,
  names: readonly string[],
  { context }: Session,
): Promise<number> {
  const worktree = addWorktree(ref, join(context.folder, 'other'));
  process.once('exit', worktree.remove);
  try {
    const rounds = asked.quick ? QUICK_COMPARED : COMPARED;
    const { table, failures } = await compareCheckouts(
      worktree.folder,
      rounds,
      (name) => isNamed(name, asked.only, names),
      context,
    );
    process.stdout.write(`\nbefore: ${ref} (${worktree.commit}); after: the working tree\n\n${table}`);
    return failures.length > 0 ? 1 : 0;
  } finally {
    worktree.remove();
  }
}

async function measureAll(
  asked: Arguments,
  names: readonly string[],
  { startedAt, machine, effort, context }: Session,
): Promise<number> {
  const { progress } = context;
  const scenarios: ScenarioResult[] = [];
  const failures: Failure[] = [];
  // What failed is told at the end and in the results; the other parts are still worth their time.
  const attempt = async <T>(part: string, step: () => Promise<T>): Promise<T | undefined> => {
    if (!isNamed(part, asked.only, names)) return undefined;
    try {
      return await step();
    } catch (error) {
      const { message } = error as Error;
      progress.say(`FAILED: ${part}: ${message}`);
      failures.push({ part, message });
      return undefined;
    }
  };
  for (const scenario of allScenarios(effort)) {
    // What a quick run leaves out can still be asked for by name.
    if (asked.only.length === 0 && effort.without.includes(scenario.id)) continue;
    const result = await attempt(scenario.id, () => runScenario(scenario, context));
    if (result !== undefined) scenarios.push(result);
  }
  const latency = await attempt('latency', () =>
    measureLatency(latencyScenario(effort), effort.latencySeconds, context),
  );
  const start = await attempt('start', () => measureStart(effort.starts, context));
  const memory = await attempt('memory', () => measureMemory(effort.memoryKeys, context));
  const results: Results = { startedAt, effort: effort.name, machine, scenarios, latency, start, memory, failures };

  const isWhole = !asked.quick && asked.only.length === 0;
  const out = asked.out === undefined ? join(import.meta.dirname, isWhole ? '' : 'out') : resolve(asked.out);
  writeReport(results, out);
  return conclude(results, asked.strict, out, progress);
}

function conclude(results: Results, strict: boolean, out: string, progress: Progress): number {
  const verdicts = judgeTargets(results);
  progress.say(`written: ${join(out, 'RESULTS.md')}, results.json, results.svg`);
  process.stdout.write(`\n${targetsTable(verdicts)}`);
  if (results.failures.length > 0) {
    process.stderr.write(`\n${results.failures.map(({ part, message }) => `FAILED: ${part}: ${message}\n`).join('')}`);
    return 1;
  }
  return strict && verdicts.some(({ state }) => state === 'missed') ? 1 : 0;
}
