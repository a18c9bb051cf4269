import { boundedMemo } from '../lib/bounded-memo.ts';
import { containsLongNumber, containsPersonalData } from './personal-text.ts';
import { containsCredential, containsRandomText } from './secret-text.ts';

const MAX_TEXT = 300;
const MAX_REMEMBERED = 1_000;

/**
 * Returns whether a string may be shown because it contains no credential, personal data, long number or random text.
 * Logs, the ledger, reports and proposals never show any other names or texts from messages.
 */
export function mayShow(text: string): boolean {
  return (
    !containsCredential(text) && !containsPersonalData(text) && !containsLongNumber(text) && !containsRandomText(text)
  );
}

/**
 * Returns the beginning of a finding's text, or undefined if the text may not be shown. Findings do not contain values,
 * so this is a second line of defense.
 */
export function shownText(text: string | undefined): string | undefined {
  return text === undefined || !mayShow(text) ? undefined : text.slice(0, MAX_TEXT);
}

/**
 * Creates a version of `shownText` with a cache of limited size. There are few different descriptions, and checking one
 * takes longer than the rest of the recording.
 */
export function createShownText(): typeof shownText {
  return boundedMemo(MAX_REMEMBERED, shownText);
}
