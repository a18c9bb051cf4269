import { createHmac, randomBytes } from 'node:crypto';

/** Knows values of personal fields again, for as long as the process runs, without keeping them. */
export interface PersonalMemory {
  readonly remember: (text: string) => void;
  readonly holds: (text: string) => boolean;
}

const MAX_TEXTS = 20_000;
const MAX_RECENT = 500;
const LONGEST = 200;

/** A memory that holds keyed hashes; its key leaves the process with it. */
export function createPersonalMemory(): PersonalMemory {
  const key = randomBytes(32);
  const held = new Set<string>();
  // The same few people are on most pages: theirs are hashed once.
  let recent = new Set<string>();
  const hash = (text: string) => createHmac('sha256', key).update(text.toLowerCase()).digest('latin1').slice(0, 12);
  return {
    remember: (text) => {
      if (recent.has(text)) return;
      if (recent.size >= MAX_RECENT) recent = new Set();
      recent.add(text);
      if (text !== '' && text.length <= LONGEST && held.size < MAX_TEXTS) held.add(hash(text));
    },
    holds: (text) => held.size > 0 && text.length <= LONGEST && held.has(hash(text)),
  };
}
