import type { AuditFinding } from '../../audit/audit.ts';
import type { Settings } from '../../config/settings.ts';
import type { Examination } from '../../doctor/examine.ts';
import { recommendedConfiguration } from '../../doctor/recommend.ts';
import { severityCounts } from '../../model/severity.ts';
import { plainText } from '../../report/plain-text.ts';

/** Formats the findings of `portico audit`. */
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

/** Formats the result of `portico doctor`, with the recommended configuration at the end. */
export function doctorLines(examination: Examination): readonly string[] {
  const { url, requests, steps, findings } = examination;
  return [
    `${url}: ${requests} requests`,
    '',
    ...steps.flatMap(stepLines),
    '',
    `Findings: ${severityCounts(findings)}`,
    ...findings.flatMap(({ severity, text, advice }) => [
      `  ${severity.toUpperCase()}  ${plainText(text)}`,
      `    ${plainText(advice)}`,
    ]),
    '',
    ...recommendedConfiguration(examination).trimEnd().split('\n'),
  ];
}

function stepLines({ name, facts, notDone }: Examination['steps'][number]): readonly string[] {
  const texts = notDone === undefined ? facts : [...facts, `not done: ${notDone}`];
  return texts.map((text) => `  ${name}: ${plainText(text)}`);
}
