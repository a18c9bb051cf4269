import { looksRandom } from './random-text.ts';

/**
 * The forms of credentials: keys, tokens and passwords. This is the one list of the prefixes that services give their keys. Every
 * expression looks a bounded number of characters ahead, so that a long text cannot make looking at it slow.
 */
const CREDENTIALS = [
  // A JSON Web Token: Base64 of `{"` (RFC 7519, 3.1).
  /eyJ[\w-]{8}/,
  /(?<![A-Za-z\d])(?:sk|pk|rk|gh[opsu]|github_pat|glpat|xox[a-z]|whsec|npm|shpat|dop_v1|A[KS]IA)[-_]?[\w-]{12}/,
  /(?<![A-Za-z\d])(?:AIza[\w-]{20}|ya29\.[\w-]{8}|SG\.[\w-]{6,}\.[\w-]{6})/,
  /(?<![A-Za-z])(?:basic|bearer|password|passwd|pwd|token|secret)[:=+]/i,
  /\b(?:basic|bearer)\s+[\w+/=.~-]{6}/i,
];

/** Hexadecimal texts of the length of hashes, keys and UUIDs. */
const HEXADECIMAL = [
  /(?<![\da-z])[\da-f]{8}(?:-?[\da-f]{4}){3}-?[\da-f]{12}(?![\da-z])/i,
  /[\da-f]{24}/i,
  /(?<![\da-z])(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{10,}(?![\da-z])/i,
];

const BASE64 = /[A-Za-z\d+/]{8,}/g;
const NAME_AND_PASSWORD = /^[^\p{Cc}\ufffd]+:[^\p{Cc}\ufffd]*$/u;
const ADDRESS = /[\p{L}\d.+-]@[\p{L}\d-]+\.\p{L}/u;

/** True for text that holds a key, a token, a password or, in Base64, a name with a password or an e-mail address. */
export function holdsCredential(text: string): boolean {
  return CREDENTIALS.some((form) => form.test(text)) || (text.match(BASE64) ?? []).some(hidesCredential);
}

/** True for text that holds what a machine has drawn by lot: hexadecimal digits, or a word that reads like random letters. */
export function holdsRandomText(text: string): boolean {
  return HEXADECIMAL.some((form) => form.test(text)) || text.split(/[^\w-]+/).some(looksRandom);
}

/** The bytes of Base64 that is random are hardly ever all printable. */
function hidesCredential(text: string): boolean {
  const inside = Buffer.from(text, 'base64').toString('utf8');
  return NAME_AND_PASSWORD.test(inside) || ADDRESS.test(inside);
}

const SECRET_SETTING = /(?:^|\.)(?:adminToken|.*password|.*secret)$/i;
// They name where a secret is.
const NAMES_A_PLACE = /(?:Env|File)$/;

/** True for the dotted key of a setting whose value is a secret. */
export function isSecretSetting(key: string): boolean {
  return SECRET_SETTING.test(key) && !NAMES_A_PLACE.test(key);
}
