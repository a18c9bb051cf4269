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

const MIN_CHARACTERS = 10;
const MIN_ODD = 4;
const LONG = 20;
/** Sizes of pictures, which speak for nothing. */
const SIZE = /\d{1,5}x\d{1,5}/g;
/** The share of odd pairs that a word of a language stays below, and a long one surely: chance evens out over many pairs. */
const MAX_ODD_SHARE = 0.25;
const MAX_ODD_SHARE_LONG = 0.18;

/**
 * For each letter those that follow it in the words of some 9,000 identifiers of public interfaces; the rarest twentieth of
 * all pairs is left out, which leaves two fifths of those that random letters make.
 */
const FOLLOWERS: Readonly<Record<string, string>> = {
  a: 'bcdfgiklmnprstuvwy',
  b: 'aeilorsu',
  c: 'acehiklorstu',
  d: 'adegilorsu',
  e: 'abcdefgilmnopqrstuvwxy',
  f: 'aefiloruy',
  g: 'aeghilnorsu',
  h: 'aeiortu',
  i: 'abcdefglmnoprstvxz',
  j: 'aeos',
  k: 'aeis',
  l: 'adeilostuy',
  m: 'abeilmopsu',
  n: 'acdefgiknostuvy',
  o: 'abcdfgiklmnoprstuvwx',
  p: 'aehiloprstu',
  q: 'u',
  r: 'abcdegiklmnoprstuvy',
  s: 'acehiklopstuy',
  t: 'acehilmoprstuy',
  u: 'abcdegilmnprst',
  v: 'aeio',
  w: 'aeilnor',
  x: 'eipt',
  y: 'pst',
  z: 'ae',
};

const ALPHABET = 26;
const USUAL = new Uint8Array(ALPHABET * ALPHABET);
for (const [first, followers] of Object.entries(FOLLOWERS))
  for (const second of followers) USUAL[letterAt(first, 0) * ALPHABET + letterAt(second, 0)] = 1;

/**
 * True for a word, of letters, digits, dashes and underscores, that reads like drawn by lot instead of made up of words: many
 * of its pairs of letters are rare, or change between letters and digits, or leave a capital alone. Of random words with 16
 * characters less than one in a hundred stays unnoticed, of those with 24 less than one in a thousand; of identifiers that
 * people made up, three in a thousand are taken for random.
 */
export function looksRandom(text: string): boolean {
  if (text.length < MIN_CHARACTERS) return false;
  const word = text.replace(SIZE, '-');
  let characters = 0;
  let odd = 0;
  for (let index = 0; index < word.length; index++) {
    if (kindAt(word, index) === 'joint') continue;
    characters += 1;
    if (index > 0 && isOdd(word, index)) odd += 1;
  }
  if (characters < MIN_CHARACTERS) return false;
  const share = odd / (characters - 1);
  return odd >= MIN_ODD && share > (characters < LONG ? MAX_ODD_SHARE : MAX_ODD_SHARE_LONG);
}

/** Whether a character and the one before it are seldom neighbours in a name. */
function isOdd(word: string, index: number): boolean {
  const [before, kind] = [kindAt(word, index - 1), kindAt(word, index)];
  if (before === 'joint' || kind === 'joint') return false;
  if (before === 'digit' || kind === 'digit') return before !== kind;
  // A capital begins a word, and a word has two letters at least.
  if (before === 'small' && kind === 'capital') return index < 2 || kindAt(word, index - 2) !== 'small';
  return USUAL[letterAt(word, index - 1) * ALPHABET + letterAt(word, index)] === 0;
}

function kindAt(word: string, index: number): 'digit' | 'capital' | 'small' | 'joint' {
  const code = word.charCodeAt(index);
  if (code >= 48 && code < 58) return 'digit';
  if (code >= 65 && code < 91) return 'capital';
  return code >= 97 && code < 123 ? 'small' : 'joint';
}

/** A letter's place in the alphabet, whatever its case. */
function letterAt(word: string, index: number): number {
  // One bit is what tells a capital from a small letter.
  return (word.charCodeAt(index) | 32) - 97;
}
