import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { METRICS } from '../../src/engine/telemetry/metric-list.ts';
import { FEATURES } from '../../src/features.ts';
import { AUDIT_RULES } from '../../src/workbench/audit/audit.ts';
import { code, table, withLinks } from './markdown.ts';

/** Returns a table of all metrics of the engine and the features. */
export function metrics(): string {
  const all = [...Object.values(METRICS), ...FEATURES.flatMap(({ metrics: own = [] }) => own)];
  return table(
    ['metric', 'type', 'labels', 'meaning'],
    all.map(({ name, type, labels, help }) => [code(name), type, labels.map(code).join(', '), help]),
  );
}

/** Returns a table of all audit rules of the program and the features. */
export function auditRules(): string {
  const all = [...AUDIT_RULES, ...FEATURES.flatMap(({ auditRules: own = [] }) => own)];
  return table(
    ['rule', 'severity', 'key', 'risk'],
    all.map(({ id, severity, key, risk }) => [
      code(id),
      severity,
      code(key.slice(1).replaceAll('/', '.')),
      withLinks(risk),
    ]),
  );
}

/** The parts of a rule file that the table of alerts needs. */
interface RuleFile {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert?: string;
      readonly labels?: Readonly<Record<string, string>>;
      readonly annotations?: Readonly<Record<string, string>>;
    }[];
  }[];
}

const SEVERITIES = ['page', 'ticket', 'info'];

const urgency = ([, severity = '']: readonly string[]): number => SEVERITIES.indexOf(severity);

/** Returns a table of all alerts, the most urgent first. Each has an anchor to which its `runbook_url` leads. */
export function alerts(): string {
  const file = parse(readFileSync(new URL('../../config/prometheus/alerts.yml', import.meta.url), 'utf8')) as RuleFile;
  const rows = file.groups.flatMap(({ rules }) =>
    rules.flatMap(({ alert, labels, annotations }) =>
      alert === undefined
        ? []
        : [
            [
              `<a id="${alert.toLowerCase()}"></a>${code(alert)}`,
              labels?.['severity'] ?? '',
              inWords(annotations?.['summary']),
              inWords(annotations?.['description']),
            ],
          ],
    ),
  );
  return table(
    ['alert', 'severity', 'what happened', 'what to do'],
    rows.toSorted((one, other) => urgency(one) - urgency(other)),
  );
}

// Prometheus replaces these placeholders in each alert.
const inWords = (text = ''): string =>
  withLinks(
    text
      .replaceAll(/: \{\{ \$value \}\}/g, '')
      .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => label.toUpperCase()),
  );
