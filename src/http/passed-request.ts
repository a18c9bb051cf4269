import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Arrival } from '../model/arrival.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import type { Principal } from '../model/principal.ts';
import type { Trace } from '../model/trace.ts';

/** A request that goes past the contract. */
export interface PassedRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly arrival: Arrival;
  readonly principal: Principal;
  readonly trace: Trace;
  /** Fields that the edge adds to an answer that has these already. */
  readonly extra: (answered: HeaderPairs) => HeaderPairs;
}
