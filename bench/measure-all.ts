import { join, resolve } from 'node:path';
import { type Arguments, isNamed } from './arguments.ts';
import { estimateSeconds } from './estimate.ts';
import { measureLatency } from './measure-latency.ts';
import { measureMemory } from './measure-memory.ts';
import { measureStart } from './measure-start.ts';
import { targetsTable } from './report/targets-table.ts';
import { writeReport } from './report/write-report.ts';
import type { Failure, Results } from './results.ts';
import { runScenario, type ScenarioResult } from './run-scenario.ts';
import { latencyScenario, OTHER_PARTS, partNames, wantedScenarios } from './scenarios/all.ts';
import type { Session } from './session.ts';
import { judgeTargets } from './targets.ts';

/** Measures everything that is asked for, writes the results and tells the verdicts; answers the exit code. */
export async function measureAll(asked: Arguments, session: Session): Promise<number> {
  const results = await measureParts(asked, session);
  const isWhole = !asked.quick && asked.only.length === 0;
  const out = asked.out === undefined ? join(import.meta.dirname, isWhole ? '' : 'out') : resolve(asked.out);
  writeReport(results, out);
  const verdicts = judgeTargets(results);
  session.context.progress.say(`written: ${join(out, 'RESULTS.md')}, results.json, results.svg`);
  process.stdout.write(`\n${targetsTable(verdicts)}`);
  if (results.failures.length > 0) {
    process.stderr.write(`\n${results.failures.map(({ part, message }) => `FAILED: ${part}: ${message}\n`).join('')}`);
    return 1;
  }
  const wanted = isWhole ? ['holds'] : ['holds', 'not measured'];
  return asked.strict && verdicts.some(({ state }) => !wanted.includes(state)) ? 1 : 0;
}

async function measureParts({ only }: Arguments, { startedAt, machine, effort, context }: Session): Promise<Results> {
  const { progress } = context;
  const names = partNames();
  const wanted = wantedScenarios(effort, only);
  const parts = OTHER_PARTS.filter((part) => isNamed(part, only, names));
  const expected = estimateSeconds(effort, wanted, parts);
  progress.expect(expected);
  progress.say(`this will take about ${(expected / 60).toFixed(1)} minutes`);

  const failures: Failure[] = [];
  // What failed is told at the end and in the results; the other parts are still worth their time.
  const attempt = async <T>(part: string, step: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await step();
    } catch (error) {
      const { message } = error as Error;
      progress.say(`FAILED: ${part}: ${message}`);
      failures.push({ part, message });
      return undefined;
    }
  };
  const other = async <T>(part: (typeof OTHER_PARTS)[number], step: () => Promise<T>): Promise<T | undefined> =>
    parts.includes(part) ? attempt(part, step) : undefined;
  const scenarios: ScenarioResult[] = [];
  for (const scenario of wanted) {
    const result = await attempt(scenario.id, () => runScenario(scenario, context));
    if (result !== undefined) scenarios.push(result);
  }
  const latency = await other('latency', () => measureLatency(latencyScenario(effort), effort.latencySeconds, context));
  const start = await other('start', () => measureStart(effort.starts, context));
  const memory = await other('memory', () => measureMemory(effort.memoryKeys, context));
  return { startedAt, effort: effort.name, only, machine, scenarios, latency, start, memory, failures };
}
