import { join } from 'node:path';
import { type Arguments, isSelected } from './arguments.ts';
import { estimateSeconds } from './estimate.ts';
import { comparisonTable, type Comparison } from './report/comparison-table.ts';
import { type Round, type RunContext, runScenario } from './run-scenario.ts';
import { partNames } from './scenarios/all.ts';
import { comparedScenarios, SIDES } from './scenarios/compared.ts';
import { COMPARED, QUICK_COMPARED } from './scenarios/effort.ts';
import type { Scenario } from './scenarios/scenario.ts';
import type { Session } from './session.ts';
import { addWorktree } from './worktree.ts';

/**
 * Compares the working tree with a git ref in alternating rounds. In each round, each side runs alone in a new process,
 * which is warmed up first. Returns the exit code.
 */
export async function compareCheckouts(
  ref: string,
  { quick, only }: Arguments,
  { context, effort }: Session,
): Promise<number> {
  const worktree = addWorktree(ref, join(context.folder, 'other'));
  process.once('exit', worktree.remove);
  try {
    const rounds = quick ? QUICK_COMPARED : COMPARED;
    const scenarios = comparedScenarios({ ...rounds, count: 1 }, worktree.folder);
    const wanted = scenarios.filter(({ id }) => isSelected(id, only, partNames()));
    const seconds = estimateSeconds(effort, wanted, []) * rounds.count;
    context.progress.expect(seconds);
    context.progress.say(`this will take about ${(seconds / 60).toFixed(1)} minutes`);
    const { table, failures } = await compareAll(wanted, rounds.count, context);
    process.stdout.write(`\nbefore: ${ref} (${worktree.commit}); after: the working tree\n\n${table}`);
    process.stderr.write(failures.map((failure) => `FAILED: ${failure}\n`).join(''));
    return failures.length > 0 ? 1 : 0;
  } finally {
    worktree.remove();
  }
}

async function compareAll(scenarios: readonly Scenario[], count: number, context: RunContext) {
  const comparisons: Comparison[] = [];
  const failures: string[] = [];
  for (const scenario of scenarios) {
    try {
      comparisons.push(await compareScenario(scenario, count, context));
    } catch (error) {
      const failure = `${scenario.id}: ${(error as Error).message}`;
      failures.push(failure);
      context.progress.say(`FAILED: ${failure}`);
    }
  }
  return { table: comparisonTable(comparisons), failures };
}

async function compareScenario(scenario: Scenario, count: number, context: RunContext): Promise<Comparison> {
  const before: Round[] = [];
  const after: Round[] = [];
  const encodings = new Map<string, string | undefined>();
  for (let round = 0; round < count; round += 1) {
    const entries = round % 2 === 0 ? scenario.entries : scenario.entries.toReversed();
    const title = `${scenario.title}: round ${round + 1} of ${count}`;
    const { rows } = await runScenario({ ...scenario, title, entries }, context);
    for (const row of rows) {
      (row.peer === SIDES.before ? before : after).push(...row.rounds);
      encodings.set(row.peer, row.encoding);
    }
  }
  const encoding = (side: keyof typeof SIDES) => encodings.get(SIDES[side]) ?? 'identity';
  const note = encoding('before') === encoding('after') ? '' : `${encoding('before')} → ${encoding('after')}`;
  return { name: scenario.title, note, before, after };
}
