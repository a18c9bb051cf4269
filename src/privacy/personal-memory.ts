import { createHmac, randomBytes } from 'node:crypto';

/** Recognizes personal values while the process runs, without storing the values themselves. */
interface PersonalMemory {
  readonly remember: (text: string) => void;
  /**
   * Returns whether a string is the value of a personal field or consists of words from such values. For example,
   * `Jana` and `jana_novak` match Jana Novák.
   */
  readonly contains: (text: string) => boolean;
}

const MAX_TEXTS = 40_000;
const MAX_RECENT = 500;
const LONGEST = 200;

/** Creates a memory of keyed hashes. The key never leaves the process. */
export function createPersonalMemory(): PersonalMemory {
  const key = randomBytes(32);
  const hashes = new Set<string>();
  // The same few people appear on most pages, so their values are hashed only once.
  let recent = new Set<string>();
  const hash = (text: string) => createHmac('sha256', key).update(text.toLowerCase()).digest('latin1').slice(0, 12);
  const add = (text: string) => {
    if (hashes.size < MAX_TEXTS) hashes.add(hash(text));
  };
  return {
    remember: (text) => {
      if (recent.has(text)) return;
      if (recent.size >= MAX_RECENT) recent = new Set();
      recent.add(text);
      if (text === '' || text.length > LONGEST) return;
      add(text);
      wordsOf(text).forEach(add);
    },
    contains: (text) => {
      if (hashes.size === 0 || text.length > LONGEST) return false;
      if (hashes.has(hash(text))) return true;
      const words = wordsOf(text);
      return words.length > 0 && words.every((word) => hashes.has(hash(word)));
    },
  };
}

/** The maximum number of words in a name. A longer text is a sentence, whose words do not identify a person. */
const MAX_WORDS = 5;

/** Returns the words of a person's name, which may contain accents or be in the form of an address or identifier. */
export function wordsOf(text: string): readonly string[] {
  // The words in the URL of a page or picture belong to the server rather than to a person.
  if (/^\/|:\/\//.test(text)) return [];
  const [name = ''] = text.split('@', 1);
  const plain = name
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .replaceAll(/(\p{Ll})(?=\p{Lu})/gu, '$1 ');
  const words = plain.toLowerCase().match(/\p{L}{3,}/gu) ?? [];
  return words.length > MAX_WORDS ? [] : words;
}
