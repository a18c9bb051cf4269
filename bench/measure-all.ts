import { join, resolve } from 'node:path';
import type { Arguments } from './arguments.ts';
import { estimateSeconds } from './estimate.ts';
import { formatNumber } from './format-number.ts';
import { commitOf } from './machine.ts';
import { measureLatency } from './measure-latency.ts';
import { measureMemory } from './measure-memory.ts';
import { measureWarmUp } from './measure-warm-up.ts';
import { measureStart } from './measure-start.ts';
import { detailFiles, summaryFiles } from './report/result-files.ts';
import { targetsTable } from './report/targets-table.ts';
import { writeFiles } from './report/write-files.ts';
import type { Failure, Results } from './results.ts';
import { runScenario, type ScenarioResult } from './run-scenario.ts';
import { latencyScenario, type OTHER_PARTS, wantedParts, wantedScenarios, warmUpScenario } from './scenarios/all.ts';
import type { Effort } from './scenarios/effort.ts';
import type { Session } from './session.ts';
import { judgeTargets } from './targets.ts';

/** Measures the selected parts, writes the results and prints the verdicts. Returns the exit code. */
export async function measureAll(options: Arguments, session: Session): Promise<number> {
  const results = await measureParts(options, session);
  const isWhole = !options.quick && options.only.length === 0;
  const details = options.out === undefined ? join(import.meta.dirname, 'out') : resolve(options.out);
  const summary = isWhole && options.out === undefined ? import.meta.dirname : details;
  // All files are written at the end, so that an interrupted run does not leave a mixture of files from two commits.
  writeFiles(summaryFiles(results), summary);
  writeFiles(detailFiles(results), details);
  const verdicts = judgeTargets(results);
  session.context.progress.say(`written: ${join(summary, 'RESULTS.md')}, ${join(details, 'DETAILS.md')}`);
  process.stdout.write(`\n${targetsTable(verdicts)}`);
  if (results.failures.length > 0) {
    process.stderr.write(`\n${results.failures.map(({ part, message }) => `FAILED: ${part}: ${message}\n`).join('')}`);
    return 1;
  }
  const wanted = isWhole ? ['met'] : ['met', 'not measured'];
  return options.strict && verdicts.some(({ state }) => !wanted.includes(state)) ? 1 : 0;
}

/** Returns a message if a run of all parts took longer than the selected effort allows. */
export function lateness(seconds: number, { maxMinutes }: Effort): string | undefined {
  if (seconds <= maxMinutes * 60) return undefined;
  return `the run took ${formatNumber(seconds / 60)} minutes and may take ${maxMinutes}`;
}

async function measureParts({ only }: Arguments, session: Session): Promise<Results> {
  const { startedAt, machine, effort, context } = session;
  const { progress } = context;
  const wanted = wantedScenarios(effort, only);
  const parts = wantedParts(effort, only);
  const expected = estimateSeconds(effort, wanted, parts);
  progress.expect(expected);
  progress.say(`this will take about ${(expected / 60).toFixed(1)} minutes`);

  const failures: Failure[] = [];
  // If a part fails, the failure is reported at the end and in the results, and the other parts are still measured.
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
  const warmUpCurve = await other('warm-up', () => measureWarmUp(warmUpScenario(effort), effort.warmUpCurve, context));
  const latency = await other('latency', () => measureLatency(latencyScenario(effort), effort.latency, context));
  const start = await other('start', () => measureStart(effort.starts, context));
  const memory = await other('memory', () => measureMemory(effort.memoryKeys, context));
  const commit = commitOf();
  if (commit !== machine.commit)
    failures.push({ part: 'commit', message: `it was ${machine.commit} at the start and is ${commit} at the end` });
  const seconds = (Date.now() - Date.parse(startedAt)) / 1000;
  const late = only.length === 0 ? lateness(seconds, effort) : undefined;
  if (late !== undefined) failures.push({ part: 'duration', message: late });
  progress.say(`the measurements took ${formatNumber(seconds / 60)} minutes`);
  return {
    startedAt,
    effort: effort.name,
    warmUp: effort.warmUp,
    only,
    machine,
    seconds,
    scenarios,
    warmUpCurve,
    latency,
    start,
    memory,
    failures,
  };
}
