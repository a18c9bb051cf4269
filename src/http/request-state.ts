import type { IncomingMessage } from 'node:http';
import type { Trace } from '../model/trace.ts';

// A property and not a WeakMap: in an old one, what is as young as a request outlives every collection of the young.
const STATE = Symbol('state');

/** What is known of a request while it is answered. */
interface RequestState {
  readonly trace: Trace;
  /** What went wrong before the request came to the Express app. */
  readonly failure?: { readonly thrown: unknown };
}

interface Stateful {
  [STATE]?: RequestState;
}

/** Notes what is known of a request. */
export function setState(req: IncomingMessage, state: RequestState): void {
  (req as Stateful)[STATE] = state;
}

/** What is known of a request; undefined before anything is. */
export function stateOf(req: IncomingMessage): RequestState | undefined {
  return (req as Stateful)[STATE];
}
