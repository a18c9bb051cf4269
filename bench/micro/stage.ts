import type { Fixture } from './fixture.ts';

/** A part of the gateway's work that is measured separately. */
export interface Stage {
  readonly name: string;
  /** The measured function and its input. */
  readonly what: string;
  /** Whether every hit pays for it, only a miss, or only a target that is not remembered. */
  readonly paidBy: 'hit' | 'miss' | 'first';
  /** Creates the function to call repeatedly. */
  prepare(fixture: Fixture): Operation;
}

/** The measured call. `input` creates the data that a new request would contain; it is not measured. */
export interface Operation<Input = unknown> {
  readonly input?: (index: number) => Input;
  readonly run: (input: never) => unknown;
}

/** Creates an operation. The type parameter connects the two functions. */
export function operation<Input>(input: (index: number) => Input, run: (input: Input) => unknown): Operation {
  return { input, run };
}
