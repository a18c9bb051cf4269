import { boundedMemo } from '../lib/bounded-memo.ts';
import { containsLongNumber, containsPersonalData } from './personal-text.ts';
import { containsCredential, containsRandomText } from './secret-text.ts';

const MAX_TEXT = 300;
const MAX_REMEMBERED = 1_000;

/**
 * The privacy policy for text: returns true for text without a credential, personal data, a long number or random text.
 * Logs, the ledger, reports and proposals never repeat a name or text from a message that fails this policy.
 */
export function mayShow(text: string): boolean {
  return (
    !containsCredential(text) && !containsPersonalData(text) && !containsLongNumber(text) && !containsRandomText(text)
  );
}

/**
 * Returns the beginning of a finding's text, or undefined if it may not be shown. Findings contain no values; this is a
 * second line of defense.
 */
export function shownText(text: string | undefined): string | undefined {
  return text === undefined || !mayShow(text) ? undefined : text.slice(0, MAX_TEXT);
}

/**
 * Creates a version of `shownText` with a bounded cache. Descriptions are few, and checking one takes longer than the
 * rest of recording.
 */
export function createShownText(): typeof shownText {
  return boundedMemo(MAX_REMEMBERED, shownText);
}
