import type { Exchange } from './exchange.ts';
import type { PlannedOperation } from './planned-operation.ts';
import type { Reply } from './reply.ts';

/**
 * A function that returns the reply to an exchange. It returns or throws synchronously if there is nothing to wait for,
 * for example for a stored page. `E` is the type of the exchange: plans of operations have decoded parameters.
 */
export type Handler<E = Exchange> = (exchange: E) => Reply | Promise<Reply>;

/** Wraps the rest of the plan. */
export type Stage<E = Exchange> = (next: Handler<E>) => Handler<E>;

/** A planner that is called once per operation, at startup. It returns undefined if the stage does not apply. */
export interface StagePlanner {
  readonly name: string;
  plan(planned: PlannedOperation): Stage | undefined;
}
