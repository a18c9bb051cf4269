import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../src/lib/package-root.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { promqlUse } from './promql-use.ts';

/** The folder with the Prometheus rules. */
export const RULES_FOLDER = join(packageRoot, 'config', 'prometheus');

/**
 * Options for running promtool. With Go's default settings, it would spend most of its time collecting garbage, and some
 * of it waiting for idle threads. The time limit allows for a busy machine.
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

interface RuleFile {
  readonly groups: readonly { readonly interval?: string; readonly rules: readonly Rule[] }[];
}

interface AlertCase {
  readonly eval_time: string;
  readonly alertname: string;
  readonly exp_alerts?: readonly unknown[];
}

interface RuleTest {
  readonly name: string;
  readonly alert_rule_test?: readonly AlertCase[];
  readonly promql_expr_test?: readonly { readonly expr: string }[];
}

/** The contents of a file for `promtool test rules`. */
interface RuleTests {
  readonly rule_files: readonly string[];
  readonly tests: readonly RuleTest[];
}

/** Reads a YAML file as promtool does: 0x60 is a series of 61 zeros, not a hexadecimal number. */
const read = (path: string): unknown =>
  parse(readFileSync(path, 'utf8'), {
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || tag.format !== 'HEX'),
  });

/** Returns the rules in one of the rule files. */
export function rulesOf(file: 'alerts.yml' | 'recording.yml'): Rule[] {
  const { groups } = read(join(RULES_FOLDER, file)) as RuleFile;
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

/** Reads a file that `promtool test rules` runs. */
export function readRuleTests(path: string): RuleTests {
  return read(path) as RuleTests;
}

/** Returns the alerts that the `promtool` tests expect. */
export function alertCases(): (AlertCase & { readonly test: string })[] {
  return ruleTestFiles().flatMap((path) =>
    readRuleTests(path).tests.flatMap(({ name, alert_rule_test: cases = [] }) =>
      cases.map((one) => ({ ...one, test: name })),
    ),
  );
}

/**
 * Splits a file of tests so that promtool evaluates only the rules that each test depends on: the alerts and recorded
 * series that its expectations name, and the recording rules that these read. Otherwise, promtool would evaluate every
 * rule in every minute of every test, which takes most of its time. Returns the paths of the new files.
 */
export function splitRuleTests(path: string): string[] {
  const folder = tempFolder();
  const { tests, ...settings } = readRuleTests(path);
  const groups = settings.rule_files.flatMap((file) => (read(join(dirname(path), file)) as RuleFile).groups);
  return tests.map((test, at) => {
    const needed = rulesNeededBy(
      test,
      groups.flatMap(({ rules }) => rules),
    );
    const kept = groups
      .map(({ interval, rules }, index) => ({
        name: String(index),
        interval,
        rules: rules.filter((rule) => needed.has(rule)),
      }))
      .filter(({ rules }) => rules.length > 0);
    const [ruleFile, testFile] = [join(folder, `${at}.rules.yml`), join(folder, `${at}.test.yml`)];
    writeFileSync(ruleFile, JSON.stringify({ groups: kept }));
    writeFileSync(testFile, JSON.stringify({ ...settings, rule_files: [ruleFile], tests: [test] }));
    return testFile;
  });
}

function rulesNeededBy(test: RuleTest, rules: readonly Rule[]): ReadonlySet<Rule> {
  const { alert_rule_test: alerts = [], promql_expr_test: queries = [] } = test;
  const metricsOf = (expr: string) => promqlUse(expr).metrics.map(({ name }) => name);
  const names = new Set([
    ...alerts.map(({ alertname }) => alertname),
    ...queries.flatMap(({ expr }) => metricsOf(expr)),
  ]);
  const needed = new Set<Rule>();
  // Iterating over a set includes names added during the loop.
  for (const name of names)
    for (const rule of rules)
      if ((rule.alert ?? rule.record) === name || (name === 'ALERTS' && rule.alert !== undefined)) {
        needed.add(rule);
        for (const metric of metricsOf(rule.expr)) names.add(metric);
      }
  return needed;
}
