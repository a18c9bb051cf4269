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
