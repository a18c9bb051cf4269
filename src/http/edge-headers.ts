import { headerValue, type HeaderPairs } from '../model/header-pairs.ts';
import type { Trace } from '../model/trace.ts';
import { VIOLATION_CATEGORIES, type Violation } from '../model/violation.ts';

/** Options for the headers that the edge adds. */
export interface EdgeHeaderOptions {
  readonly contractStatusHeader: boolean;
  /** Returns the fingerprint of a violation in the ledger. */
  readonly reportIdOf: (trace: Trace, violation: Violation) => string;
}

/** Returns the headers that the edge adds to every response: the request id, `Via`, and the contract verdict. */
export function edgeHeaders(trace: Trace, options: EdgeHeaderOptions, present: HeaderPairs = []): HeaderPairs {
  const headers: [string, string][] = [['Via', '1.1 portico']];
  if (headerValue(present, 'x-request-id') === undefined) headers.push(['X-Request-Id', trace.requestId]);
  // A response from the cache or from the gateway itself was not checked for this request, so it has no verdict.
  const checked = trace.responses !== undefined || trace.violations.length > 0;
  if (options.contractStatusHeader && checked) {
    try {
      headers.push(['Contract-Status', contractStatus(trace, options.reportIdOf)]);
    } catch (error) {
      // Send the response even if its verdict cannot be written.
      trace.cause ??= error;
    }
  }
  return headers;
}

/**
 * Returns the value of `Contract-Status` as a structured field (RFC 9651): the result of checking the request and its
 * response against the contract, and the fingerprint of the worst violation.
 */
export function contractStatus<Checked extends Pick<Trace, 'violations' | 'responses'>>(
  trace: Checked,
  reportIdOf: (trace: Checked, violation: Violation) => string,
): string {
  const { violations, responses } = trace;
  const skipped =
    responses?.outcome === 'skipped' || responses?.outcome === 'failed' ? `; skipped=${token(responses.reason)}` : '';
  const worst = worstOf(violations);
  if (worst === undefined) return `conforming${skipped}`;
  const report = `; report=${token(reportIdOf(trace, worst))}`;
  return `violations; count=${violations.length}; worst=${worst.category}${report}${skipped}`;
}

function worstOf(violations: readonly Violation[]): Violation | undefined {
  let worst: Violation | undefined;
  for (const violation of violations) if (worst === undefined || rank(violation) < rank(worst)) worst = violation;
  return worst;
}

const rank = ({ category }: Violation) => VIOLATION_CATEGORIES.indexOf(category);

// A token starts with a letter or an asterisk. Digits and hyphens are allowed only after that.
function token(reason: string | undefined): string {
  const text = (reason ?? '').replaceAll(/[^\w-]+/g, '-').slice(0, 40);
  return /^[A-Za-z]/.test(text) ? text : 'unknown';
}
