import type { Results } from '../results.ts';
import { judgeTargets } from '../targets.ts';

/** Returns the contents of results.json: all rounds, verdicts and configurations. */
export function toJson(results: Results): string {
  const { machine } = results;
  const targets = judgeTargets(results).map(({ target: { path, what, limit, unit }, value, state, gap }) => ({
    path,
    what,
    limit,
    unit,
    value,
    state,
    gap,
  }));
  return `${JSON.stringify({ ...results, machine: { ...machine, missing: Object.fromEntries(machine.missing) }, targets }, undefined, 2)}\n`;
}
