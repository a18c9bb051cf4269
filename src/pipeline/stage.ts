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
