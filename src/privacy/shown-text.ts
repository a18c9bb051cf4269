import { boundedMemo } from '../lib/bounded-memo.ts';
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
 * values to begin with, so this is a second line of defense.
 */
export function shownText(text: string | undefined): string | undefined {
  return text === undefined || !mayShow(text) ? undefined : text.slice(0, MAX_TEXT);
}

/**
 * Creates a version of `shownText` with a cache of limited size. There are few distinct descriptions, and checking a
 * description takes longer than everything else that is needed to record it.
 */
export function createShownText(): typeof shownText {
  return boundedMemo(MAX_REMEMBERED, shownText);
}

const ID = /^[\w.:+/=-]{1,128}$/;
/**
 * The most common form of id. Such an id is accepted without further checks, because it may contain groups of digits
 * that look like a card number.
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

/** The replacement for a name that must not be shown. */
const HIDDEN_NAME = '?';

const MAX_NAME = 64;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const SIZE = /^\d{1,5}x\d{1,5}$/;

/** Returns an untrusted name unchanged if it is a plain identifier that may be shown, or `?` otherwise. */
export function plainName(name: string): string {
  return name.length <= MAX_NAME ? rememberedName(name) : HIDDEN_NAME;
}

const MAX_NAMES = 1_000;

// Servers usually repeat the same undocumented fields, and checking a name takes longer than this lookup.
const rememberedName = boundedMemo(MAX_NAMES, (name: string) =>
  (IDENTIFIER.test(name) || SIZE.test(name)) && mayShow(name) ? name : HIDDEN_NAME,
);

/**
 * Returns a parameter's name if it is short and plain enough to be shown to the client that sent it. Returns an empty
 * string otherwise.
 */
export function plainParameter(name: string | undefined): string {
  return name !== undefined && /^[\w.-]{1,64}$/.test(name) && mayShow(name) ? name : '';
}

const FIELD_NAME = /^[_$]?[A-Za-z][A-Za-z0-9_-]{0,39}$/;

/** The names of standards that contain numbers. */
const METHODS = /sha(?:224|256|384|512)|iso8601/gi;

/**
 * Returns whether a string looks like the name of a JSON field. A name that contains an e-mail address, an object id,
 * a token or a space is probably the key of a map entry, and may be personal data.
 */
export function isFieldName(name: string): boolean {
  if (!FIELD_NAME.test(name) || /\d{3}/.test(name.replace(METHODS, ''))) return false;
  // Unlike names such as `48x48` and `sha256`, random text often alternates between letters and digits.
  const changes = name.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0;
  return changes <= 2 && !/^[0-9a-f]{12,}$/i.test(name) && mayShow(name);
}

/** Returns whether a string is a plain word, such as an enum value, rather than a token. */
export function isWord(text: string): boolean {
  return /^[A-Za-z][A-Za-z_-]{0,31}$/.test(text) && mayShow(text);
}
