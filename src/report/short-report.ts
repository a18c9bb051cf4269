import { plainText } from './plain-text.ts';
import { findingsOf, type Report } from './report.ts';
import { countWords, operationName, placeWords, shareWords, summaryWords } from './report-words.ts';

const MOST = 10;

/** A report in a few lines, for the end of something longer. */
export function shortLines(report: Report): readonly string[] {
  const findings = findingsOf(report);
  const lines = findings
    .slice(0, MOST)
    .map(({ entry, standing, share }) =>
      plainText(
        `  ${standing} ${entry.category}: ${operationName(entry.operation)}, ${placeWords(entry)}: ${entry.message} (${entry.count}, ${shareWords(share)}) ${entry.fingerprint}`,
      ),
    );
  const rest = findings.length - lines.length;
  return [
    plainText(summaryWords(report)),
    ...lines,
    ...(rest > 0 ? [`  and ${countWords(rest, 'more', 'more')}`] : []),
  ];
}
