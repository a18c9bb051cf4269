import type { Exchange } from './exchange.ts';
import type { PlannedOperation } from './planned-operation.ts';
import type { Reply } from './reply.ts';

/**
 * Returns the reply to an exchange, at once where nothing has to be waited for, as with a stored page; it may throw at once,
 * too. `E` is what the plan knows of the request: plans of operations know its decoded parameters.
 */
export type Handler<E = Exchange> = (exchange: E) => Reply | Promise<Reply>;

/** Wraps the rest of the plan. */
export type Stage<E = Exchange> = (next: Handler<E>) => Handler<E>;

/** Asked once per operation, at start; undefined where the stage has nothing to do. */
export interface StagePlanner {
  readonly name: string;
  plan(planned: PlannedOperation): Stage | undefined;
}
