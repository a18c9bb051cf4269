import type { Trace } from '../model/trace.ts';
import { VIOLATION_CATEGORIES, type Violation } from '../model/violation.ts';

/**
 * The value of `Contract-Status`: how this request and its answer stand against the contract, as a structured field
 * (RFC 9651), with the id under which the ledger has the worst of what was found.
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

// A token begins with a letter or an asterisk; digits and hyphens may only follow.
function token(reason: string | undefined): string {
  const text = (reason ?? '').replaceAll(/[^\w-]+/g, '-').slice(0, 40);
  return /^[A-Za-z]/.test(text) ? text : 'unknown';
}
