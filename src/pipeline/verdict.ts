import type { CheckLevel } from '../model/checks.ts';
import type { CheckVerdict } from '../model/trace.ts';
import type { Violation } from '../model/violation.ts';

/** The verdict of a check that found these violations at this level. */
export function toVerdict(level: CheckLevel, violations: readonly Violation[]): CheckVerdict {
  if (level === 'off') return { level, outcome: 'skipped', reason: 'off' };
  if (violations.length === 0) return { level, outcome: 'passed' };
  return { level, outcome: level === 'enforce' ? 'refused' : 'reported' };
}
