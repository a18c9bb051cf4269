import { GatewayError } from '../errors/gateway-error.ts';
import type { CheckName } from '../model/checks.ts';
import type { Trace } from '../model/trace.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import type { PlannedOperation } from './planned-operation.ts';
import type { Reply } from './reply.ts';
import type { Handler, Stage, StagePlanner } from './stage.ts';
import { checkFailed } from './request-refusal.ts';

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
  const handle = stages.reduceRight(
    (next, { name, stage }) => (planned.transparent ? tolerant(name, stage, planned) : stage)(next),
    unanswered,
  );
  return { ...planned, stages: stages.map(({ name }) => name), handle };
}

/** The check that a stage makes. */
const CHECK_OF: Readonly<Record<string, CheckName>> = {
  authorize: 'permissions',
  'validate-body': 'requests',
  'bound-page': 'pageBounds',
  'validate-response': 'responses',
};

/**
 * Where everything passes as it is, a stage that breaks is recorded and left out: the exchange goes on without it, or ends
 * with the response that the rest of the plan has returned already.
 */
function tolerant(name: string, stage: Stage, { checks }: PlannedOperation): Stage {
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
        // These are decisions or failures of the transport, no mistakes.
        if (error instanceof GatewayError || error instanceof UpstreamFailure || name === 'forward') throw error;
        // What was sent upstream is not sent again, and where the rest of the plan broke, it was not this stage.
        const reply = await replies.get(exchange.trace);
        const check = CHECK_OF[name];
        if (check === undefined) exchange.trace.cause ??= error;
        else checkFailed(exchange.trace, check, checks[check], error);
        return reply ?? next(exchange);
      }
    };
  };
}

/** A plan as one line, as `portico plan` prints it and the reviewed snapshot keeps it. */
export function planLine(plan: Plan): string {
  const moved = (plan.moved ?? []).map((words) => `   [${words}]`).join('');
  return `${plan.operation.method.padEnd(4)} ${plan.operation.path}   ${plan.stages.join(' → ')}${moved}`;
}
