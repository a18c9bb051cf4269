import { holdsFourNumbers, holdsPersonalData } from './personal-text.ts';
import { holdsCredential } from './secret-text.ts';
import { mayShow } from './shown-text.ts';

const ID = /^[\w.:+/=-]{1,128}$/;
/** The commonest ids, looked at first: some of them hold groups of digits as the number of a card does. */
const UUID = /^[\da-f]{8}(?:-?[\da-f]{4}){3}-?[\da-f]{12}$/i;

/**
 * True for an id of a request that may be repeated in logs, in the ledger and upstream: short, plain, and without a credential
 * or personal data. Ids are random and hold long numbers, so these alone say nothing. A name in an id cannot be told from a word.
 */
export function isHarmlessId(sent: string): boolean {
  if (UUID.test(sent)) return true;
  return ID.test(sent) && !holdsCredential(sent) && !holdsPersonalData(sent) && !holdsFourNumbers(sent);
}

/** What stands for a name that must not be repeated. */
const UNTOLD_NAME = '?';

const MAX_NAME = 64;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const SIZE = /^\d{1,5}x\d{1,5}$/;

/** Returns a name that somebody else made up where it is a plain identifier that may be shown; otherwise `?`. */
export function plainName(name: string): string {
  const plain = name.length <= MAX_NAME && (IDENTIFIER.test(name) || SIZE.test(name)) && mayShow(name);
  return plain ? name : UNTOLD_NAME;
}

/** Returns the name of a parameter where it is short and plain enough to be repeated to whoever sent it; otherwise nothing. */
export function plainParameter(name: string | undefined): string {
  return name !== undefined && /^[\w.-]{1,64}$/.test(name) && mayShow(name) ? name : '';
}

const FIELD_NAME = /^[_$]?[A-Za-z][A-Za-z0-9_-]{0,39}$/;

/** Numbers that name a method, not somebody's object. */
const METHODS = /sha(?:224|256|384|512)|iso8601/gi;

/**
 * True for what reads like the name of a field, as programmers write them. Names with an e-mail, a number of an object, a
 * token or a space in them are keys of a map: they may be somebody's.
 */
export function isFieldName(name: string): boolean {
  if (!FIELD_NAME.test(name) || /\d{3}/.test(name.replace(METHODS, ''))) return false;
  // Random text changes between letters and digits again and again; `48x48` or `sha256` hardly do.
  const changes = name.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0;
  return changes <= 2 && !/^[0-9a-f]{12,}$/i.test(name) && mayShow(name);
}

/** True for a plain word, and no token: what a closed vocabulary is made of. */
export function isWord(text: string): boolean {
  return /^[A-Za-z][A-Za-z_-]{0,31}$/.test(text) && mayShow(text);
}
