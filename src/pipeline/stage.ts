import type { Exchange } from './exchange.ts';
import type { PlannedOperation } from './planned-operation.ts';
import type { Reply } from './reply.ts';

/**
 * A function that returns the reply to an exchange. If there is nothing to wait for, such as with a stored page, it
 * returns or throws synchronously. `E` is the type of the exchange. In the plans of operations, exchanges have decoded
 * parameters.
 */
export type Handler<E = Exchange> = (exchange: E) => Reply | Promise<Reply>;

/** A function that wraps the handler of the remaining plan. */
export type Stage<E = Exchange> = (next: Handler<E>) => Handler<E>;

/**
 * A planner is called once per operation, at startup. It returns undefined if the stage does not apply to the
 * operation.
 */
export interface StagePlanner {
  readonly name: string;
  plan(planned: PlannedOperation): Stage | undefined;
}
