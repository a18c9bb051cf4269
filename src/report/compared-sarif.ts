import type { Change } from './comparison.ts';
import { CHANGE_WORDS, changedShares } from './comparison-words.ts';
import type { RenderComparison } from './render-options.ts';
import { sarifLog, type SarifFinding } from './sarif-report.ts';

/** SARIF's own words for how a result stands against the one before. */
const STATES: Readonly<Record<Change, SarifFinding['state']>> = {
  new: 'new',
  more: 'updated',
  less: 'updated',
  same: 'unchanged',
  gone: 'absent',
};

/** A comparison for code scanning: every result of both sides with its `baselineState`. */
export const renderComparedSarif: RenderComparison = ({ findings, takenAt }, { version }) =>
  sarifLog(
    findings.map((one) => ({
      finding: one.finding,
      state: STATES[one.change],
      words: `${CHANGE_WORDS[one.change]}: ${changedShares(one)}`,
    })),
    takenAt,
    version,
  );
