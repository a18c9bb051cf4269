import type { Fixture } from './fixture.ts';

/** A separately measured part of the gateway's work. */
export interface Stage {
  readonly name: string;
  /** A description of the measured function and its input. */
  readonly what: string;
  /**
   * The requests for which this stage runs: every hit, only misses, or only requests whose target is not in the memo.
   */
  readonly paidBy: 'hit' | 'miss' | 'first';
  /** Creates the function to call repeatedly. */
  prepare(fixture: Fixture): Operation;
}

/**
 * The measured call. `input` creates the data that a new request would contain. The cost of `input` is not measured.
 */
export interface Operation<Input = unknown> {
  readonly input?: (index: number) => Input;
  readonly run: (input: never) => unknown;
}

/** Creates the measured call of a stage. The type parameter ensures that `run` accepts what `input` returns. */
export function operation<Input>(input: (index: number) => Input, run: (input: Input) => unknown): Operation {
  return { input, run };
}
