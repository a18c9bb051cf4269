import { join, resolve } from 'node:path';
import { type Arguments, isSelected } from './arguments.ts';
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

/** Measures the selected parts, writes the results and prints the verdicts. Returns the exit code. */
export async function measureAll(options: Arguments, session: Session): Promise<number> {
  const results = await measureParts(options, session);
  const isWhole = !options.quick && options.only.length === 0;
  const out = options.out === undefined ? join(import.meta.dirname, isWhole ? '' : 'out') : resolve(options.out);
  writeReport(results, out);
  const verdicts = judgeTargets(results);
  session.context.progress.say(`written: ${join(out, 'RESULTS.md')}, results.json, results.svg`);
  process.stdout.write(`\n${targetsTable(verdicts)}`);
  if (results.failures.length > 0) {
    process.stderr.write(`\n${results.failures.map(({ part, message }) => `FAILED: ${part}: ${message}\n`).join('')}`);
    return 1;
  }
  const wanted = isWhole ? ['holds'] : ['holds', 'not measured'];
  return options.strict && verdicts.some(({ state }) => !wanted.includes(state)) ? 1 : 0;
}

async function measureParts({ only }: Arguments, { startedAt, machine, effort, context }: Session): Promise<Results> {
  const { progress } = context;
  const names = partNames();
  const wanted = wantedScenarios(effort, only);
  const parts = OTHER_PARTS.filter((part) => isSelected(part, only, names));
  const expected = estimateSeconds(effort, wanted, parts);
  progress.expect(expected);
  progress.say(`this will take about ${(expected / 60).toFixed(1)} minutes`);

  const failures: Failure[] = [];
  // Failures are reported at the end and in the results; the other parts are still measured.
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
