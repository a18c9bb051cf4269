import type { Trace } from '../model/trace.ts';
import { VIOLATION_CATEGORIES, type Violation } from '../model/violation.ts';

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
