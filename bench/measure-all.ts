import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Arguments } from './arguments.ts';
import { selectCases } from './cases.ts';
import { type Effort, estimateSeconds } from './effort.ts';
import { readMachineTime, stolenShare } from './machine-time.ts';
import { commitOf } from './machine.ts';
import { measureStarts, type Start } from './measure-start.ts';
import { buildRelease } from './release.ts';
import { toChart } from './report/chart.ts';
import { formatNumber } from './report/format-number.ts';
import { toMarkdown } from './report/markdown.ts';
import { resultsTable } from './report/table.ts';
import type { Results } from './results.ts';
import type { Session } from './session.ts';
import { type Failure, visitInTurns } from './visit.ts';

/** The longest duration of a start, with the pause after which its memory is read. */
const START_SECONDS = 4;
const BUILD_SECONDS = 10;

/** Measures the selected parts, writes the results and prints the table. Returns the exit code. */
export async function measureAll({ only, quick }: Arguments, session: Session): Promise<number> {
  const { setting, effort } = session;
  const results = await measureParts(only, session);
  const isComplete = !quick && only.length === 0;
  const out = join(import.meta.dirname, 'out');
  const folder = isComplete ? import.meta.dirname : out;
  mkdirSync(out, { recursive: true });
  // All files are written at the end, so that an interrupted run does not leave a mixture of two commits.
  writeFileSync(join(out, 'results.json'), `${JSON.stringify({ ...results, effort }, undefined, 2)}\n`);
  writeFileSync(join(folder, 'results.svg'), toChart(results));
  writeFileSync(join(folder, 'RESULTS.md'), toMarkdown(results));
  setting.progress.say(`written: ${join(folder, 'RESULTS.md')}, results.svg; ${join(out, 'results.json')}`);
  process.stdout.write(`\n${resultsTable(results)}`);
  process.stderr.write(results.failures.map(({ part, message }) => `\nFAILED: ${part}: ${message}\n`).join(''));
  return results.failures.length > 0 ? 1 : 0;
}

async function measureParts(only: readonly string[], { effort, machine, startedAt, setting, command }: Session) {
  const { progress } = setting;
  const timeBefore = readMachineTime();
  const measuresStart = only.length === 0 || only.includes('start');
  const count = measuresStart ? effort.starts : 0;
  progress.say('building the program');
  const checkout = buildRelease(setting.folder);
  const cases = selectCases(only, setting.casesOf({ checkout }));
  const expected = BUILD_SECONDS + count * START_SECONDS + estimateSeconds(cases, effort);
  progress.expect(expected);
  progress.say(`this will take at most about ${formatNumber(expected / 60)} minutes`);
  const starts: readonly Start[] = count === 0 ? [] : await measureStarts(checkout, count, setting);
  const { visits, failures } = await visitInTurns(cases, effort, setting);
  const commit = commitOf();
  const seconds = (Date.now() - startedAt) / 1000;
  const results: Results = {
    startedAt: new Date(startedAt).toISOString(),
    command,
    machine,
    stolen: stolenShare(timeBefore, readMachineTime()),
    seconds,
    visits,
    starts,
    failures: [
      ...failures,
      ...(commit === machine.commit ? [] : [{ part: 'commit', message: `it became ${commit} during the run` }]),
      ...lateness(seconds, effort),
    ],
  };
  return results;
}

/** Returns a failure if a run took longer than it may. */
export function lateness(seconds: number, { maxMinutes }: Effort): readonly Failure[] {
  if (seconds <= maxMinutes * 60) return [];
  return [
    { part: 'duration', message: `the run took ${formatNumber(seconds / 60)} minutes and may take ${maxMinutes}` },
  ];
}
