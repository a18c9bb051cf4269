import { looksSecret } from '../../lib/looks-secret.ts';

const MAX_TEXT = 300;
const MAX_REMEMBERED = 1_000;

/** A short text of a finding; undefined where it holds what could be a value. Findings are worded without: this is for the day on which one is not. */
export function harmless(text: string | undefined): string | undefined {
  return text === undefined || looksSecret(text) ? undefined : text.slice(0, MAX_TEXT);
}

/** The same with a bounded memory, for descriptions: they are few, and looking at one takes longer than the rest of recording. */
export function createHarmless(): typeof harmless {
  const known = new Map<string, string | undefined>();
  return (text) => {
    if (text === undefined || known.has(text)) return text === undefined ? undefined : known.get(text);
    if (known.size >= MAX_REMEMBERED) known.clear();
    const result = harmless(text);
    known.set(text, result);
    return result;
  };
}
