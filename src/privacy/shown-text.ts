import { holdsLongNumber, holdsPersonalData } from './personal-text.ts';
import { holdsCredential, holdsRandomText } from './secret-text.ts';

const MAX_TEXT = 300;
const MAX_REMEMBERED = 1_000;

/**
 * The policy of what may be shown: true for text without a credential, personal data, a long number or random text. Logs, the
 * ledger, reports and learned contracts repeat no name or text from a message that fails it.
 */
export function mayShow(text: string): boolean {
  return !holdsCredential(text) && !holdsPersonalData(text) && !holdsLongNumber(text) && !holdsRandomText(text);
}

/** Returns the beginning of a text of a finding; undefined where it may not be shown. Findings are worded without values: this is for the day on which one is not. */
export function shownText(text: string | undefined): string | undefined {
  return text === undefined || !mayShow(text) ? undefined : text.slice(0, MAX_TEXT);
}

/** Makes `shownText` with a bounded memory, for descriptions: they are few, and looking at one takes longer than the rest of recording. */
export function createShownText(): typeof shownText {
  const known = new Map<string, string | undefined>();
  return (text) => {
    if (text === undefined || known.has(text)) return text === undefined ? undefined : known.get(text);
    if (known.size >= MAX_REMEMBERED) known.clear();
    const result = shownText(text);
    known.set(text, result);
    return result;
  };
}
