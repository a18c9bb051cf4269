import { createHmac, randomBytes } from 'node:crypto';
import { wordsOf } from './words-of.ts';

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
