import { comparisonTable, type Comparison } from './report/comparison-table.ts';
import { type Round, type RunContext, runScenario } from './run-scenario.ts';
import { comparedScenarios, SIDES } from './scenarios/compared.ts';
import type { Rounds, Scenario } from './scenarios/scenario.ts';

/** Compares the working tree with another checkout: fresh processes for each round, the first one alternating. */
export async function compareCheckouts(
  otherCheckout: string,
  rounds: Rounds,
  isWanted: (name: string) => boolean,
  context: RunContext,
): Promise<{ readonly table: string; readonly failures: readonly string[] }> {
  const comparisons: Comparison[] = [];
  const failures: string[] = [];
  for (const scenario of comparedScenarios({ ...rounds, count: 1 }, otherCheckout)) {
    if (!isWanted(scenario.id)) continue;
    try {
      comparisons.push(await compareScenario(scenario, rounds.count, context));
    } catch (error) {
      failures.push(`${scenario.id}: ${(error as Error).message}`);
      context.progress.say(`FAILED: ${failures.at(-1) ?? ''}`);
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
