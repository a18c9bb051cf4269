import type { Fixture } from './fixture.ts';

/** A piece of the gateway's work that is measured alone. */
export interface Stage {
  readonly name: string;
  /** What is called, and with what. */
  readonly what: string;
  /** Whether a hit pays it, only a miss, or only the first request of its kind. */
  readonly paidBy: 'hit' | 'miss' | 'first';
  /** Makes what is called again and again; what it is given comes from `input`. */
  prepare(fixture: Fixture): Operation;
}

/** What one call is; `input` makes what a new request would bring with it and is not part of the time. */
export interface Operation<Input = unknown> {
  readonly input?: (index: number) => Input;
  readonly run: (input: never) => unknown;
}

/** Keeps the type of the input between its two functions. */
export function operation<Input>(input: (index: number) => Input, run: (input: Input) => unknown): Operation {
  return { input, run };
}
