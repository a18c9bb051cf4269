import { boundedMemo } from '../../lib/bounded-maps.ts';
import { containsLongNumber, containsPersonalData, containsFourNumbers } from './personal-text.ts';
import { containsCredential, containsRandomText } from './secret-text.ts';

const MAX_TEXT = 300;
const MAX_REMEMBERED = 1_000;

/**
 * Returns whether a string may be shown, that is, whether it contains no credential, personal data, long number or
 * random text. Names and strings from messages never appear in logs, the ledger, reports or proposals unless they pass
 * this test.
 */
export function mayShow(text: string): boolean {
  return (
    !containsCredential(text) && !containsPersonalData(text) && !containsLongNumber(text) && !containsRandomText(text)
  );
}

/**
 * Returns the beginning of a finding's message, or undefined if the message may not be shown. Findings contain no
 * values in the first place, so this check is a second line of defense.
 */
export function shownText(text: string | undefined): string | undefined {
  return text === undefined || !mayShow(text) ? undefined : text.slice(0, MAX_TEXT);
}

/**
 * Creates a version of `shownText` with a cache of limited size. There are few distinct descriptions, and checking a
 * description takes longer than all other steps of recording it.
 */
export function createShownText(): typeof shownText {
  return boundedMemo(MAX_REMEMBERED, shownText);
}

const ID = /^[\w.:+/=-]{1,128}$/;
/**
 * The most common id format. An id in this format is accepted without further checks, because it may contain groups of
 * digits that look like a card number.
 */
const UUID = /^[\da-f]{8}(?:-?[\da-f]{4}){3}-?[\da-f]{12}$/i;

/**
 * Returns whether a client's request id may be written to logs and the ledger and sent upstream. The id must be short
 * and plain, and must not contain a credential or personal data. Random text and long numbers are allowed, because
 * they are common in ids. A person's name in an id is not detected, because it looks like any other word.
 */
export function isHarmlessId(sent: string): boolean {
  if (UUID.test(sent)) return true;
  return ID.test(sent) && !containsCredential(sent) && !containsPersonalData(sent) && !containsFourNumbers(sent);
}
