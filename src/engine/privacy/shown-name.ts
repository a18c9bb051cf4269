import { boundedMemo } from '../../lib/bounded-maps.ts';
import { mayShow } from './shown-text.ts';

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

// Results are cached, because the same undocumented fields usually recur and checking a name is slow.
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

/** Names of standard algorithms and formats that contain digits. */
const METHODS = /sha(?:224|256|384|512)|iso8601/gi;

/**
 * Returns whether a string looks like the name of a JSON field. A name that contains an email address, an object id,
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
