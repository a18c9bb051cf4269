import { escapeMarkup } from './plain-text.ts';

/** A suite: the violations of one category in one operation; without any, an operation that passed. */
export interface JunitSuite {
  readonly name: string;
  /** XML. */
  readonly cases: readonly string[];
  readonly failures: number;
  readonly skipped: number;
}

/** The suites as one document, with their sums. */
export function junitDocument(suites: readonly JunitSuite[], takenAt: number): string {
  const total = (of: (suite: JunitSuite) => number) => suites.reduce((sum, suite) => sum + of(suite), 0);
  const stamp = new Date(takenAt).toISOString().slice(0, 19);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="portico" ${counts({
      tests: total(({ cases }) => cases.length),
      failures: total(({ failures }) => failures),
      skipped: total(({ skipped }) => skipped),
    })}>`,
    ...suites.map((suite) => suiteText(suite, stamp)),
    '</testsuites>',
  ].join('\n');
}

/** The head of a case; its name is the same in every run, so that a CI server can follow it. */
export const junitHead = (classname: string, name: string): string =>
  `<testcase classname="portico.${escapeMarkup(classname)}" name="${escapeMarkup(name)}" time="0">`;

function suiteText({ name, cases, failures, skipped }: JunitSuite, stamp: string): string {
  const attributes = counts({ tests: cases.length, failures, skipped });
  const head = `  <testsuite name="${escapeMarkup(name)}" ${attributes} timestamp="${stamp}">`;
  return [head, ...cases, '  </testsuite>'].join('\n');
}

const counts = ({ tests, failures, skipped }: Readonly<Record<'tests' | 'failures' | 'skipped', number>>): string =>
  `tests="${tests}" failures="${failures}" errors="0" skipped="${skipped}" time="0"`;
