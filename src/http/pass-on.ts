import type { HeaderPairs } from '../model/header-pairs.ts';
import { edgeFields, type EdgeFieldOptions } from './edge-fields.ts';
import type { PassedRequest } from './passed-request.ts';

/** How requests are streamed past the contract. */
export interface PassOnServices extends EdgeFieldOptions {
  readonly pass: (passed: PassedRequest) => Promise<void>;
}

/** Streams a request that the policy lets past the contract, and adds the fields of the edge to its answer. */
export function passOn(passed: Omit<PassedRequest, 'extra'>, services: PassOnServices): Promise<void> {
  const { trace } = passed;
  trace.route = 'passthrough';
  return services.pass({ ...passed, extra: (answered: HeaderPairs) => edgeFields(trace, services, answered) });
}
