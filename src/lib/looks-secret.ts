import { looksRandom } from './looks-random.ts';

const SECRETS = [
  // An e-mail address, or what its encoded form leaves of it. One character on each side: more would make a long text slow.
  /[^\s@/](?:@|%40)[^\s@/]/i,
  // A JSON Web Token, and keys with the prefixes that services give them.
  /(?<![A-Za-z\d])eyJ[\w-]{8,}/,
  /(?<![A-Za-z\d])(?:sk|pk|rk|gh[opsu]|xox[a-z]|AKIA|glpat)[-_]?[\w-]{12,}/,
  // Long numbers, in groups too, as telephones, cards and accounts are written; addresses of machines.
  /\d(?:[-_.]{0,2}\d){8}/,
  /(?<!\d)(?=(?:\d[-_.])*\d\d)\d{1,3}(?:[-_.]\d{1,3}){3}(?!\d)/,
  // Long hexadecimal texts, UUIDs among them.
  /(?<![\da-z])[\da-f]{8}(?:-?[\da-f]{4}){3}-?[\da-f]{12}(?![\da-z])/i,
  /[\da-f]{24,}/i,
  /(?<![\da-z])(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{10,}(?![\da-z])/i,
  /\b(?:basic|bearer)\s+[\w+/=.~-]{6,}/i,
];

/** True for texts that hold something in the form of an e-mail address, a token, a key or a long number. */
export function looksSecret(text: string): boolean {
  if (SECRETS.some((form) => form.test(text))) return true;
  return text.split(/[^\w-]+/).some(looksRandom);
}
