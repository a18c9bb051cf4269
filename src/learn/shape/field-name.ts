import { looksSecret } from '../../lib/looks-secret.ts';

const NAME = /^[_$]?[A-Za-z][A-Za-z0-9_-]{0,39}$/;

/** Numbers that name a method, not somebody's object. */
const METHODS = /sha(?:224|256|384|512)|iso8601/gi;

/**
 * True for what reads like the name of a field, as programmers write them. Names with an e-mail, a number of an object, a
 * token or a space in them are keys of a map: they may be somebody's.
 */
export function isFieldName(name: string): boolean {
  if (!NAME.test(name) || /\d{3}/.test(name.replace(METHODS, ''))) return false;
  // Random text changes between letters and digits again and again; `48x48` or `sha256` hardly do.
  const changes = name.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0;
  return changes <= 2 && !/^[0-9a-f]{12,}$/i.test(name) && !looksSecret(name);
}

/** True for a plain word, and no token: what a closed vocabulary is made of. */
export function isWord(text: string): boolean {
  return /^[A-Za-z][A-Za-z_-]{0,31}$/.test(text) && !looksSecret(text);
}
