/**
 * Patterns for credentials: keys, tokens and passwords, including the key prefixes used by common services. All such
 * patterns are in this file. Each pattern looks ahead only a limited number of characters, so matching is fast even
 * for long strings.
 */
const CREDENTIALS = [
  // A JSON Web Token. It begins with `{"` in Base64 (RFC 7519 §3.1).
  /eyJ[\w-]{8}/,
  /(?<![A-Za-z\d])(?:sk|pk|rk|ptk|gh[opsu]|github_pat|glpat|xox[a-z]|whsec|npm|shpat|dop_v1|A[KS]IA)[-_]?[\w-]{12}/,
  /(?<![A-Za-z\d])(?:AIza[\w-]{20}|ya29\.[\w-]{8}|SG\.[\w-]{6,}\.[\w-]{6})/,
  /(?<![A-Za-z])(?:basic|bearer|password|passwd|pwd|token|secret)[:=+]/i,
  /\b(?:basic|bearer)\s+[\w+/=.~-]{6}/i,
];

/** Hexadecimal strings with the length of a hash, a key or a UUID. */
const HEXADECIMAL = [
  /(?<![\da-z])[\da-f]{8}(?:-?[\da-f]{4}){3}-?[\da-f]{12}(?![\da-z])/i,
  /[\da-f]{24}/i,
  /(?<![\da-z])(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{10,}(?![\da-z])/i,
];

const BASE64 = /[A-Za-z\d+/]{8,}/g;
const UNPRINTABLE = /[\p{Cc}\ufffd]/u;
const ADDRESS = /[\p{L}\d.+-]@[\p{L}\d-]+\.\p{L}/u;

/**
 * Returns whether a string contains a key, a token, a password, or Base64 text in which a name is encoded together
 * with a password or an email address.
 */
export function containsCredential(text: string): boolean {
  return CREDENTIALS.some((form) => form.test(text)) || (text.match(BASE64) ?? []).some(hidesCredential);
}

/** Returns whether a string contains generated random text: hexadecimal digits, or a word of random letters. */
export function containsRandomText(text: string): boolean {
  return HEXADECIMAL.some((form) => form.test(text)) || text.split(/[^\w-]+/).some(looksRandom);
}

/**
 * Returns whether a Base64 string contains a credential or an email address. Random Base64 text rarely decodes
 * entirely to printable characters, so false positives are rare.
 */
function hidesCredential(text: string): boolean {
  const inside = Buffer.from(text, 'base64').toString('utf8');
  const isNameAndPassword = inside.includes(':', 1) && !UNPRINTABLE.test(inside);
  return isNameAndPassword || ADDRESS.test(inside);
}

// Settings that only specify where a secret is stored, such as `adminTokenFile`, do not match.
const SECRET_SETTING = /(?:^|\.)adminToken$|^operators$|(?:password|secret)$/i;

/**
 * Returns whether the value of a setting of the engine is a secret. `key` is the dotted key of the setting. An address is
 * a secret only if it contains a user or a password.
 */
export function isSecretSetting(key: string, value: unknown): boolean {
  return SECRET_SETTING.test(key) || (key === 'redis.url' && hasUserinfo(value));
}

/** Returns whether an address contains a user or a password. An address that cannot be read may contain them. */
export function hasUserinfo(address: unknown): boolean {
  if (typeof address !== 'string') return false;
  if (!URL.canParse(address)) return address.includes('@');
  const { username, password } = new URL(address);
  return username !== '' || password !== '';
}

const MIN_CHARACTERS = 10;
const MIN_ODD = 4;
const LONG = 20;
/** An image size such as `640x480`. It is ignored, because it does not make a word random. */
const SIZE = /\d{1,5}x\d{1,5}/g;
/**
 * A word is considered random if more than this fraction of its letter pairs are rare. The lower limit applies to
 * longer words, in which the fraction varies less.
 */
const MAX_ODD_SHARE = 0.25;
const MAX_ODD_SHARE_LONG = 0.18;

/**
 * For each letter, the letters that follow it in about 9,000 identifiers from public APIs, excluding the rarest five
 * percent of all pairs. Two out of five randomly chosen letter pairs are in this list.
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
 * Returns whether a word (letters, digits, dashes and underscores) looks random. A word looks random if many of its
 * pairs of characters are rare: unusual letter pairs, letters next to digits, or isolated capitals. The function misses
 * fewer than 1 in 100 random words of 16 characters, and fewer than 1 in 1,000 of 24 characters. Of the identifiers
 * chosen by people, it mistakes 3 in 1,000 for random words.
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

/** Returns whether the character at an index rarely follows the preceding character in identifiers. */
function isOdd(word: string, index: number): boolean {
  const [before, kind] = [kindAt(word, index - 1), kindAt(word, index)];
  if (before === 'joint' || kind === 'joint') return false;
  if (before === 'digit' || kind === 'digit') return before !== kind;
  // A capital letter begins a new word, and a word has at least two letters.
  if (before === 'small' && kind === 'capital') return index < 2 || kindAt(word, index - 2) !== 'small';
  return USUAL[letterAt(word, index - 1) * ALPHABET + letterAt(word, index)] === 0;
}

function kindAt(word: string, index: number): 'digit' | 'capital' | 'small' | 'joint' {
  const code = word.charCodeAt(index);
  if (code >= 48 && code < 58) return 'digit';
  if (code >= 65 && code < 91) return 'capital';
  return code >= 97 && code < 123 ? 'small' : 'joint';
}

/** Returns a letter's position in the alphabet, ignoring case. */
function letterAt(word: string, index: number): number {
  // Setting the bit with the value 32 converts an uppercase letter to lowercase.
  return (word.charCodeAt(index) | 32) - 97;
}
