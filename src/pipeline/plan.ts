import type { Handler, Stage, StagePlanner } from './stage.ts';
import type { PlannedOperation } from './planned-operation.ts';

/** What answers one operation: its folded handler and the names of the stages in it, outermost first. */
export interface Plan extends PlannedOperation {
  readonly stages: readonly string[];
  readonly handle: Handler;
}

/** Folds the stages that have work for an operation into one handler; done once, at start. */
export function compilePlan(planned: PlannedOperation, planners: readonly StagePlanner[]): Plan {
  const stages: { name: string; stage: Stage }[] = [];
  for (const planner of planners) {
    const stage = planner.plan(planned);
    if (stage !== undefined) stages.push({ name: planner.name, stage });
  }
  const unanswered: Handler = () => Promise.reject(new Error(`the plan of ${planned.operation.id} has no last stage`));
  const handle = stages.reduceRight((next, { stage }) => stage(next), unanswered);
  return { ...planned, stages: stages.map(({ name }) => name), handle };
}

/** A plan as one line, as `portico plan` prints it and the reviewed snapshot keeps it. */
export function planLine(plan: Plan): string {
  const moved = (plan.moved ?? []).map((words) => `   [${words}]`).join('');
  return `${plan.operation.method.padEnd(4)} ${plan.operation.path}   ${plan.stages.join(' → ')}${moved}`;
}
