/** The severities of findings, worst first. */
export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const;

/**
 * The urgency of a finding. `critical`: data or access is exposed now. `high`: a single mistake or a single attacker is
 * enough to expose data or access. `medium`: an incident becomes more likely or more severe. `low`: a precaution is
 * missing. `info`: a fact that an operator should know.
 */
export type Severity = (typeof SEVERITIES)[number];

/** Compares two severities for sorting, worst first. */
export function bySeverity(one: Severity, other: Severity): number {
  return SEVERITIES.indexOf(one) - SEVERITIES.indexOf(other);
}

/** Returns whether a severity is at least as urgent as another. */
export function isAtLeast(severity: Severity, bound: Severity): boolean {
  return bySeverity(severity, bound) <= 0;
}

/** Counts findings by severity, for example `1 high, 2 low`. Returns `none` if there are no findings. */
export function severityCounts(findings: readonly { readonly severity: Severity }[]): string {
  const counted = SEVERITIES.map((name) => ({
    name,
    count: findings.filter(({ severity }) => severity === name).length,
  }));
  const words = counted.filter(({ count }) => count > 0).map(({ name, count }) => `${count} ${name}`);
  return words.length === 0 ? 'none' : words.join(', ');
}
