import type { ComparedFinding } from './comparison.ts';
import { CHANGE_WORDS, changedShares, comparisonWords, groupedByChange, NO_DIFFERENCE } from './comparison-words.ts';
import { junitDocument, junitHead, type JunitSuite } from './junit-document.ts';
import { junitCase } from './junit-report.ts';
import { escapeMarkup } from './plain-text.ts';
import type { RenderComparison } from './render-options.ts';
import { isNew } from './report.ts';
import { operationName, placeWords } from './report-words.ts';

/** A comparison for whatever shows test results: what only the second side has failed, unless it is accepted; all else passed. */
export const renderComparedJunit: RenderComparison = (comparison) => {
  const suites = groupedByChange(comparison).map(({ change, findings }): JunitSuite => {
    const added = change === 'new' ? findings : [];
    return {
      name: CHANGE_WORDS[change],
      cases: findings.map((one) => (change === 'new' ? junitCase(one.finding) : passedCase(one))),
      failures: added.filter(({ finding }) => isNew(finding)).length,
      skipped: added.filter(({ finding }) => !isNew(finding)).length,
    };
  });
  const nothing = {
    name: comparisonWords(comparison),
    cases: [`    ${junitHead('comparison', NO_DIFFERENCE)}</testcase>`],
    failures: 0,
    skipped: 0,
  };
  return junitDocument(suites.length === 0 ? [nothing] : suites, comparison.takenAt);
};

function passedCase(one: ComparedFinding): string {
  const { entry } = one.finding;
  const name = `${operationName(entry.operation)}.${entry.category}`;
  const head = junitHead(name, `${placeWords(entry)}: ${entry.message} [${entry.fingerprint}]`);
  const words = `${CHANGE_WORDS[one.change]}: ${changedShares(one)}`;
  return `    ${head}<system-out>${escapeMarkup(words)}</system-out></testcase>`;
}
