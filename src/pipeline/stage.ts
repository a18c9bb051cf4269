import type { Exchange } from './exchange.ts';
import type { PlannedOperation } from './planned-operation.ts';
import type { Reply } from './reply.ts';

/** Answers an exchange: at once where nobody has to be asked, as with a kept page; it may throw at once, too. */
export type Handler = (exchange: Exchange) => Reply | Promise<Reply>;

/** Wraps the rest of the plan. */
export type Stage = (next: Handler) => Handler;

/** Asked once per operation, at start; undefined where the stage has nothing to do. */
export interface StagePlanner {
  readonly name: string;
  plan(planned: PlannedOperation): Stage | undefined;
}
