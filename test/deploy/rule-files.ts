import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../src/files/package-root.ts';

/** The folder with the Prometheus rules. */
export const RULES_FOLDER = join(packageRoot, 'config', 'prometheus');

/**
 * Options for running promtool. With Go's default settings, it would spend most of its time collecting garbage and some
 * waiting for idle threads. All rules together still take 8 s of CPU time, so the time limit allows for a busy machine.
 */
export const PROMTOOL = { env: { ...process.env, GOGC: '400', GOMAXPROCS: '1' }, timeout: 290_000 };

/** A rule in a rule file, either a recording rule or an alerting rule. */
export interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface AlertCase {
  readonly eval_time: string;
  readonly alertname: string;
  readonly exp_alerts?: readonly unknown[];
}

/** The contents of a file for `promtool test rules`. */
export interface RuleTests {
  readonly tests: readonly { readonly name: string; readonly alert_rule_test?: readonly AlertCase[] }[];
}

const read = (path: string): unknown => parse(readFileSync(path, 'utf8'));

/** Returns the rules in one of the rule files. */
export function rulesOf(file: 'alerts.yml' | 'recording.yml'): Rule[] {
  const { groups } = read(join(RULES_FOLDER, file)) as { groups: { rules: Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** Returns the recording rules, each with the name under which its result is recorded. */
export function recordingRules(): { record: string; expr: string }[] {
  return rulesOf('recording.yml').flatMap(({ record, expr }) => (record === undefined ? [] : [{ record, expr }]));
}

/** Returns the paths of all files that `promtool test rules` runs. */
export function ruleTestFiles(): string[] {
  const folder = join(RULES_FOLDER, 'tests');
  return readdirSync(folder).map((name) => join(folder, name));
}

/** Returns the alerts that the `promtool` tests expect. */
export function alertCases(): (AlertCase & { readonly test: string })[] {
  return ruleTestFiles().flatMap((path) =>
    (read(path) as RuleTests).tests.flatMap(({ name, alert_rule_test: cases = [] }) =>
      cases.map((one) => ({ ...one, test: name })),
    ),
  );
}
