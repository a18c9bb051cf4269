const SECRETS = [
  // An e-mail address, or what its encoded form leaves of it. One character on each side: more would make a long text slow.
  /[^\s@/](?:@|%40)[^\s@/]/i,
  // A JSON Web Token, and keys with the prefixes that services give them.
  /\beyJ[\w-]{8,}/,
  /\b(?:sk|pk|ghp|gho|xox[a-z]|AKIA|glpat)[-_]?[\w-]{12,}/,
  // Long numbers and long hexadecimal texts, UUIDs among them.
  /\d{9,}/,
  /\b[\da-f]{8}(?:-?[\da-f]{4}){3}-?[\da-f]{12}\b/i,
  /\b[\da-f]{24,}\b/i,
  /\b(?:basic|bearer)\s+[\w+/=.~-]{6,}/i,
];

const MIN_RANDOM = 12;

/** True for texts that hold something in the form of an e-mail address, a token, a key or a long number. */
export function looksSecret(text: string): boolean {
  if (SECRETS.some((form) => form.test(text))) return true;
  return text.split(/[^A-Za-z\d]+/).some(looksRandom);
}

/** Letters of random text change between capitals, small ones and digits far more often than those of names do. */
function looksRandom(word: string): boolean {
  if (word.length < MIN_RANDOM) return false;
  let changes = 0;
  for (let index = 1; index < word.length; index++) if (kindAt(word, index) !== kindAt(word, index - 1)) changes += 1;
  return changes > word.length / 2.5;
}

function kindAt(word: string, index: number): 'digit' | 'capital' | 'small' {
  const code = word.charCodeAt(index);
  return code < 58 ? 'digit' : code < 91 ? 'capital' : 'small';
}
