import { featuresInUse } from '../../engine/config/configurable.ts';
import type { Settings } from '../../engine/config/settings.ts';
import { bySeverity, type Severity, severityCounts } from '../../engine/model/severity.ts';
import { plainText } from '../../lib/plain-text.ts';
import type { AuditRule, AuditSubject } from './audit-rule.ts';
import { ANONYMOUS_RULES } from './anonymous-rules.ts';
import { CACHE_RULES } from './cache-rules.ts';
import { ENCRYPTION_RULES } from './encryption-rules.ts';
import { ENFORCEMENT_RULES } from './enforcement-rules.ts';
import { LOGIN_RULES } from './login-rules.ts';
import { NETWORK_RULES } from './network-rules.ts';
import { OUTAGE_RULES } from './outage-rules.ts';
import { OVERLOAD_RULES } from './overload-rules.ts';
import { RECORD_RULES } from './record-rules.ts';
import { SECRET_RULES } from './secret-rules.ts';

/** A finding: a rule that the configuration violates, and the location of the violation. */
export interface AuditFinding {
  readonly rule: string;
  readonly severity: Severity;
  /** The dotted configuration key, such as `listen.trustedProxies`. */
  readonly key: string;
  /** Where the value is set: a line in the file, a variable or a flag. `default` if the key is not set. */
  readonly source: string;
  readonly found: readonly string[];
  readonly risk: string;
  readonly fix: string;
}

/** The engine's rules, in the order in which findings of the same severity are listed. */
export const AUDIT_RULES: readonly AuditRule[] = [
  ...ENFORCEMENT_RULES,
  ...ANONYMOUS_RULES,
  ...LOGIN_RULES,
  ...SECRET_RULES,
  ...NETWORK_RULES,
  ...ENCRYPTION_RULES,
  ...CACHE_RULES,
  ...OUTAGE_RULES,
  ...OVERLOAD_RULES,
  ...RECORD_RULES,
];

/** Applies all rules to a configuration. Returns the findings, with the most severe first. */
export function audit(subject: AuditSubject): readonly AuditFinding[] {
  const { settings } = subject;
  const ofFeatures = featuresInUse(settings).flatMap(({ configurable: { name, auditRules = [] }, options }) =>
    auditRules.map((rule): AuditRule => ({ ...rule, find: () => rule.find(options, settings, subject.stateOf(name)) })),
  );
  const findings = [...AUDIT_RULES, ...ofFeatures].flatMap(
    ({ id: rule, severity, key: pointer, realOnly, risk, fix, find }) => {
      const found = realOnly && settings.embedded ? [] : find(subject);
      if (found.length === 0) return [];
      const source = settings.originOf(pointer) === 'default' ? 'default' : settings.placeOf(pointer).source;
      return [{ rule, severity, key: pointer.slice(1).replaceAll('/', '.'), source, found, risk, fix }];
    },
  );
  return findings.toSorted((one, other) => bySeverity(one.severity, other.severity));
}

/** Formats the findings as text. */
export function auditLines({ file, mode }: Settings, findings: readonly AuditFinding[]): readonly string[] {
  return [
    ...findings.flatMap(({ severity, rule, key, source, found, risk, fix }) => [
      `${severity.toUpperCase()}  ${rule}`,
      `  ${key} (${source}): ${plainText(found.join('; '))}`,
      `  risk: ${risk}`,
      `  fix:  ${fix}`,
      '',
    ]),
    `Findings in ${file} (mode ${mode.name}): ${severityCounts(findings)}`,
  ];
}
