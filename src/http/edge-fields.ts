import { headerValue, type HeaderPairs } from '../model/header-pairs.ts';
import type { Trace } from '../model/trace.ts';
import type { Violation } from '../model/violation.ts';
import { contractStatus } from './contract-status.ts';

/** What decides the fields of the edge. */
export interface EdgeFieldOptions {
  readonly contractStatusHeader: boolean;
  /** The id under which the ledger keeps a violation. */
  readonly reportIdOf: (trace: Trace, violation: Violation) => string;
}

/** Returns the headers that the edge adds to every response: request id, `Via`, and the verdict on the contract. */
export function edgeFields(trace: Trace, options: EdgeFieldOptions, answered: HeaderPairs = []): HeaderPairs {
  const fields: [string, string][] = [['Via', '1.1 portico']];
  if (headerValue(answered, 'x-request-id') === undefined) fields.push(['X-Request-Id', trace.requestId]);
  // An answer from memory or of our own was not checked now, so nothing is said of it.
  const checked = trace.responses !== undefined || trace.violations.length > 0;
  if (options.contractStatusHeader && checked) {
    try {
      fields.push(['Contract-Status', contractStatus(trace, options.reportIdOf)]);
    } catch (error) {
      // A response is not lost because its verdict cannot be written.
      trace.cause ??= error;
    }
  }
  return fields;
}
