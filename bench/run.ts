import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Arguments, isNamed, readArguments, USAGE } from './arguments.ts';
import { LOAD_CORE } from './cores.ts';
import { readMachine } from './machine.ts';
import { measureLatency } from './measure-latency.ts';
import { measureMemory } from './measure-memory.ts';
import { measureStart } from './measure-start.ts';
import { killAll } from './process-tree.ts';
import { createProgress, type Progress } from './progress.ts';
import { targetsTable } from './report/targets-table.ts';
import { writeReport } from './report/write-report.ts';
import type { Results } from './results.ts';
import { type RunContext, runScenario, type ScenarioResult } from './run-scenario.ts';
import { allScenarios, latencyScenario, OTHER_PARTS } from './scenarios/all.ts';
import { type Effort, FULL, QUICK } from './scenarios/effort.ts';
import { startUpstream } from './start-upstream.ts';
import { judgeTargets } from './targets.ts';

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
    return await measureAll(asked, folder);
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

async function measureAll(asked: Arguments, folder: string): Promise<number> {
  const progress = createProgress();
  const effort = asked.quick ? QUICK : FULL;
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
  const context: RunContext = { folder, upstream, progress, missing: machine.missing };
  const scenarios: ScenarioResult[] = [];
  for (const scenario of allScenarios(effort))
    if (isNamed(scenario.id, asked.only)) scenarios.push(await runScenario(scenario, context));
  const others = await measureOthers(asked.only, effort, context);
  const results: Results = { startedAt, effort: effort.name, machine, scenarios, ...others };

  const isWhole = !asked.quick && asked.only.length === 0;
  const out = asked.out === undefined ? join(import.meta.dirname, isWhole ? '' : 'out') : resolve(asked.out);
  writeReport(results, out);
  return conclude(results, asked.strict, out, progress);
}

async function measureOthers(
  only: readonly string[],
  effort: Effort,
  context: RunContext,
): Promise<Pick<Results, 'latency' | 'start' | 'memory'>> {
  const { latencySeconds, starts, memoryKeys } = effort;
  return {
    ...(isNamed('latency', only) && {
      latency: await measureLatency(latencyScenario(effort), latencySeconds, context),
    }),
    ...(isNamed('start', only) && { start: await measureStart(starts, context) }),
    ...(isNamed('memory', only) && { memory: await measureMemory(memoryKeys, context) }),
  };
}

function conclude(results: Results, strict: boolean, out: string, progress: Progress): number {
  const verdicts = judgeTargets(results);
  progress.say(`written: ${join(out, 'RESULTS.md')}, results.json, results.svg`);
  process.stdout.write(`\n${targetsTable(verdicts)}`);
  return strict && verdicts.some(({ state }) => state === 'missed') ? 1 : 0;
}
