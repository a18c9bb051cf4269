import { looksSecret } from './looks-secret.ts';

/** What stands for a name that must not be repeated. */
const UNTOLD_NAME = '?';

const MAX_LENGTH = 64;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const SIZE = /^\d{1,5}x\d{1,5}$/;

/**
 * A name that somebody else made up, if it may be repeated: a plain identifier of at most 64 characters that does not look
 * like an address or a token; otherwise `?`.
 */
export function plainName(name: string): string {
  const plain = name.length <= MAX_LENGTH && (IDENTIFIER.test(name) || SIZE.test(name)) && !looksSecret(name);
  return plain ? name : UNTOLD_NAME;
}
