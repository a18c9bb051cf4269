import { GatewayError } from '../errors/gateway-error.ts';
import type { CheckName } from '../model/checks.ts';
import { type Trace, checkFailed } from '../model/trace.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import type { Exchange } from './exchange.ts';
import type { PlannedOperation } from './planned-operation.ts';
import type { Reply } from './reply.ts';

/**
 * Returns the reply to an exchange, or throws. The result is synchronous if there is nothing to wait for, for example
 * because the page is stored. `E` is the type of the exchange. Exchanges for documented operations have decoded
 * parameters.
 */
export type Handler<E = Exchange> = (exchange: E) => Reply | Promise<Reply>;

/** Wraps the handler that runs the rest of the plan. */
export type Stage<E = Exchange> = (next: Handler<E>) => Handler<E>;

/** Decides at startup whether an operation needs a stage. Returns undefined if it does not. */
export interface StagePlanner {
  readonly name: string;
  plan(planned: PlannedOperation): Stage | undefined;
}

/** The check that each stage performs. */
const CHECK_OF: Readonly<Record<string, CheckName>> = {
  authorize: 'permissions',
  'validate-body': 'requests',
  'bound-page': 'pageBounds',
  'validate-response': 'responses',
};

/**
 * Makes a stage fault-tolerant for transparent mode. If the stage fails, the error is recorded and the stage is
 * skipped. If the rest of the plan has already produced a reply, that reply is returned.
 */
export function tolerant(name: string, stage: Stage, { checks }: PlannedOperation): Stage {
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
        // These errors are decisions or transport failures, so they do not point to a defect in the stage.
        if (error instanceof GatewayError || error instanceof UpstreamFailure || name === 'forward') throw error;
        // The request must not be sent upstream twice, so a reply that has already been produced is returned. An error
        // from the rest of the plan is rethrown here.
        const reply = await replies.get(exchange.trace);
        const check = CHECK_OF[name];
        if (check === undefined) exchange.trace.cause ??= error;
        else checkFailed(exchange.trace, check, checks[check], error);
        return reply ?? next(exchange);
      }
    };
  };
}
