import { createHmac, randomBytes } from 'node:crypto';

/** Recognizes personal values that have occurred since the process started. */
interface PersonalMemory {
  readonly remember: (text: string) => void;
  /**
   * Returns whether a string is the value of a personal field or consists of words from such values. For example, after
   * the name Jana Novák has been seen, `Jana` and `jana_novak` are recognized.
   */
  readonly contains: (text: string) => boolean;
}

const MAX_TEXTS = 40_000;
const MAX_RECENT = 500;
const LONGEST = 200;

/**
 * Creates an in-memory store of keyed hashes. The key never leaves the process. Only the most recent values are also
 * stored as plain text.
 */
export function createPersonalMemory(maxTexts = MAX_TEXTS): PersonalMemory {
  const key = randomBytes(32);
  const hashes = new Set<string>();
  // The same few people appear on most pages, so recent values are stored as plain text to avoid hashing them again.
  let recent = new Set<string>();
  const hash = (text: string) => createHmac('sha256', key).update(text.toLowerCase()).digest('latin1').slice(0, 12);
  const add = (text: string) => {
    if (hashes.size < maxTexts) hashes.add(hash(text));
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

/** The maximum number of words in a name. A longer text is a sentence, and its words do not identify a person. */
const MAX_WORDS = 5;

/** Returns the words of a person's name. The name may contain accents, or have the form of an address or identifier. */
export function wordsOf(text: string): readonly string[] {
  // The words in the URL of a page or picture come from the server and are not part of a person's name.
  if (/^\/|:\/\//.test(text)) return [];
  const [name = ''] = text.split('@', 1);
  const plain = name
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .replaceAll(/(\p{Ll})(?=\p{Lu})/gu, '$1 ');
  const words = plain.toLowerCase().match(/\p{L}{3,}/gu) ?? [];
  return words.length > MAX_WORDS ? [] : words;
}
