import type { PlannedOperation } from './planned-operation.ts';
import { type Handler, type StagePlanner, tolerant } from './stage.ts';

/** The plan of a single operation: its composed handler and the names of its stages, outermost first. */
export interface Plan extends PlannedOperation {
  readonly stages: readonly string[];
  readonly handle: Handler;
}

/** Composes the stages that apply to an operation into one handler at startup. */
export function compilePlan(planned: PlannedOperation, planners: readonly StagePlanner[]): Plan {
  const stages = planners.flatMap((planner) => {
    const stage = planner.plan(planned);
    return stage === undefined ? [] : [{ name: planner.name, stage }];
  });
  const handle = stages.reduceRight<Handler>(
    (next, { name, stage }) => (planned.transparent ? tolerant(name, stage, planned) : stage)(next),
    () => Promise.reject(new Error(`the plan of ${planned.operation.id} has no last stage`)),
  );
  return { ...planned, stages: stages.map(({ name }) => name), handle };
}

/** Formats a plan as one line of text, for `portico plan` and for the test snapshot. */
export function planLine(plan: Plan): string {
  const words = [...(plan.moved ?? []), ...(plan.overridden?.words ?? []).map((one) => `override: ${one}`)];
  const notes = words.map((one) => `   [${one}]`).join('');
  return `${plan.operation.method.padEnd(4)} ${plan.operation.path}   ${plan.stages.join(' → ')}${notes}`;
}
