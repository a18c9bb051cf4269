import type { Trace } from '../model/trace.ts';
import { VIOLATION_CATEGORIES, type Violation } from '../model/violation.ts';

/** Options for the headers that the edge adds. */
export interface EdgeHeaderOptions {
  readonly contractStatusHeader: boolean;
  /** Returns the fingerprint of a violation in the ledger. */
  readonly reportIdOf: (trace: Trace, violation: Violation) => string;
}

/**
 * Adds the headers of every response: the request id, `Via`, and the contract verdict. `headers` is the list that is
 * written, in which names and values alternate.
 */
export function addEdgeHeaders(headers: string[], trace: Trace, options: EdgeHeaderOptions): void {
  const hasId = hasHeader(headers, 'x-request-id');
  headers.push('Via', '1.1 portico');
  if (!hasId) headers.push('X-Request-Id', trace.requestId);
  // A response from the cache or from the gateway itself was not checked for this request, so it has no verdict.
  const checked = trace.responses !== undefined || trace.violations.length > 0;
  if (options.contractStatusHeader && checked) {
    try {
      headers.push('Contract-Status', contractStatus(trace, options.reportIdOf));
    } catch (error) {
      // Send the response even if its verdict cannot be written.
      trace.cause ??= error;
    }
  }
}

/** Returns whether a list of alternating names and values has a header. `name` is in lower case. */
export function hasHeader(headers: readonly string[], name: string): boolean {
  for (let at = 0; at < headers.length; at += 2)
    if (headers[at]?.length === name.length && headers[at]?.toLowerCase() === name) return true;
  return false;
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
