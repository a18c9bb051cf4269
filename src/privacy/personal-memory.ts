import { createHmac, randomBytes } from 'node:crypto';

/** Knows values of personal fields again, for as long as the process runs, without keeping them. */
export interface PersonalMemory {
  readonly remember: (text: string) => void;
  /** True for a value of a personal field, and for what is made of words of such values: `Jana` and `jana_novak` of Jana Novák. */
  readonly holds: (text: string) => boolean;
}

const MAX_TEXTS = 40_000;
const MAX_RECENT = 500;
const LONGEST = 200;

/** A memory that holds keyed hashes; its key leaves the process with it. */
export function createPersonalMemory(): PersonalMemory {
  const key = randomBytes(32);
  const held = new Set<string>();
  // The same few people are on most pages: theirs are hashed once.
  let recent = new Set<string>();
  const hash = (text: string) => createHmac('sha256', key).update(text.toLowerCase()).digest('latin1').slice(0, 12);
  const keep = (text: string) => {
    if (held.size < MAX_TEXTS) held.add(hash(text));
  };
  return {
    remember: (text) => {
      if (recent.has(text)) return;
      if (recent.size >= MAX_RECENT) recent = new Set();
      recent.add(text);
      if (text === '' || text.length > LONGEST) return;
      keep(text);
      wordsOf(text).forEach(keep);
    },
    holds: (text) => {
      if (held.size === 0 || text.length > LONGEST) return false;
      if (held.has(hash(text))) return true;
      const words = wordsOf(text);
      return words.length > 0 && words.every((word) => held.has(hash(word)));
    },
  };
}

/** More words are a sentence, whose words are everybody's. */
const MOST = 5;

/** The words of somebody's name, however it is written: with accents, as an address, or as programmers join words. */
export function wordsOf(text: string): readonly string[] {
  // The words of an address of a page or a picture are the server's.
  if (/^\/|:\/\//.test(text)) return [];
  const [name = ''] = text.split('@', 1);
  const plain = name
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .replaceAll(/(\p{Ll})(?=\p{Lu})/gu, '$1 ');
  const words = plain.toLowerCase().match(/\p{L}{3,}/gu) ?? [];
  return words.length > MOST ? [] : words;
}
