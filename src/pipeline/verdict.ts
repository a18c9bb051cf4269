import type { CheckLevel, CheckName } from '../model/checks.ts';
import type { CheckVerdict, Trace } from '../model/trace.ts';
import type { Violation } from '../model/violation.ts';

/** The verdict of a check that found these violations at this level. */
export function toVerdict(level: CheckLevel, violations: readonly Violation[]): CheckVerdict {
  if (level === 'off') return { level, outcome: 'skipped', reason: 'off' };
  if (violations.length === 0) return { level, outcome: 'passed' };
  return { level, outcome: level === 'enforce' ? 'refused' : 'reported' };
}

/** Returns the verdict of a check that broke at this level. */
export function failedVerdict(level: CheckLevel): CheckVerdict & { readonly outcome: 'failed' } {
  return { level, outcome: 'failed', reason: 'error' };
}

/** Records that a check broke while it judged: log and metrics show it, and the exchange goes on without its verdict. */
export function checkFailed(trace: Trace, check: CheckName, level: CheckLevel, error: unknown): void {
  trace.cause ??= error;
  const failed = failedVerdict(level);
  if (check === 'responses') trace.responses = { ...failed, verdict: 'skipped' };
  else if (check === 'authentication') return;
  else trace[check] = failed;
}
