import type { Operation } from '../model/operation.ts';
import type { Trace } from '../model/trace.ts';
import type { Exchange } from '../pipeline/exchange.ts';

/** One answer of the upstream, as whoever watches a walk sees it. */
export interface WalkedAnswer {
  readonly operation: Operation;
  /** The request that it answers, with decoded parameters. */
  readonly exchange: Exchange;
  readonly status: number;
  /** The value of `Content-Type`; undefined when there is none. */
  readonly mediaType: string | undefined;
  /** The text of the body; undefined when it was too large or could not be read. */
  readonly text: string | undefined;
  /** The parsed body; undefined when it is no JSON. */
  readonly json: unknown;
  /** Complete, with everything that was found. */
  readonly trace: Trace;
}

/** Watches a walk; called once for every answer that came, in order. */
export type WalkObserver = (answer: WalkedAnswer) => void;
