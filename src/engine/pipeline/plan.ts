import { GatewayError } from '../errors/gateway-error.ts';
import { type Trace, checkFailed } from '../model/trace.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import type { Reply } from './reply.ts';
import type { Handler, PlannedOperation, Stage, StagePlanner } from './stage.ts';

/** The plan of a single operation: its composed handler and the names of its stages, outermost first. */
export interface Plan extends PlannedOperation {
  readonly stages: readonly string[];
  readonly handle: Handler;
}

/** Composes the stages that apply to an operation into one handler. */
export function compilePlan(planned: PlannedOperation, planners: readonly StagePlanner[]): Plan {
  const stages = planners.flatMap((planner) => {
    const stage = planner.plan(planned);
    return stage === undefined ? [] : [{ planner, stage }];
  });
  const handle = stages.reduceRight<Handler>(
    (next, { planner, stage }) => (planned.transparent ? tolerant(planner, stage, planned) : stage)(next),
    () => Promise.reject(new Error(`the plan of ${planned.operation.id} has no last stage`)),
  );
  return { ...planned, stages: stages.map(({ planner }) => planner.name), handle };
}

/** Formats a plan as one line of text for `portico plan` and the test snapshot. */
export function planLine(plan: Plan): string {
  const notes = (plan.changes ?? []).map(({ decidedBy, words }) => `   [${decidedBy}: ${words}]`).join('');
  return `${plan.operation.method.padEnd(4)} ${plan.operation.path}   ${plan.stages.join(' → ')}${notes}`;
}

/**
 * Makes a stage fault-tolerant for transparent mode. If the stage fails, the error is recorded and the stage is
 * skipped. If the rest of the plan has already produced a reply, that reply is returned.
 */
function tolerant({ name, check }: StagePlanner, stage: Stage, { checks }: PlannedOperation): Stage {
  return (next) => {
    const replies = new WeakMap<Trace, Reply | Promise<Reply>>();
    const handle = stage((exchange) => {
      const reply = next(exchange);
      replies.set(exchange.trace, reply);
      return reply;
    });
    return async (exchange) => {
      try {
        return await handle(exchange);
      } catch (error) {
        // Gateway errors are decisions, and upstream failures are not the stage's fault, so both are rethrown.
        if (error instanceof GatewayError || error instanceof UpstreamFailure || name === 'forward') throw error;
        // The request must not be sent upstream twice, so a reply that has already been produced is returned. If the
        // rest of the plan failed, its error is rethrown.
        const reply = await replies.get(exchange.trace);
        if (check === undefined) exchange.trace.cause ??= error;
        else checkFailed(exchange.trace, check, checks[check], error);
        return reply ?? next(exchange);
      }
    };
  };
}
