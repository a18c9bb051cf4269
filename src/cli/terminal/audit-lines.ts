import type { AuditFinding } from '../../audit/audit.ts';
import type { Settings } from '../../config/settings.ts';
import { severityCounts } from '../../model/severity.ts';
import { plainText } from '../../report/plain-text.ts';

/** Formats the findings of an audit. */
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
