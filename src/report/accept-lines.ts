import { plainText } from './plain-text.ts';
import type { Finding } from './report.ts';
import { operationName, placeWords } from './report-words.ts';

/** What accepts a violation, to be copied below `accepted:` of a baseline: lines of YAML that are never broken. */
export function acceptLines({ entry }: Finding): readonly string[] {
  return [
    `  - fingerprint: ${plainText(entry.fingerprint)}`,
    '    reason: why it is right',
    '    owner: who answers for it',
  ];
}

/** The line that lets people read in a baseline what an entry is about. */
export function summaryLine({ entry }: Finding): string {
  const text = `${operationName(entry.operation)}, ${placeWords(entry)}: ${entry.message}`;
  // A text of JSON is one of YAML, whatever is in it.
  return `    summary: ${JSON.stringify(plainText(text))}`;
}
