import { decodeHTML } from 'entities';

// Long enough for every documented text; an answer of the upstream must not decide how long ours is.
const LONGEST_INPUT = 4000;
const LONGEST_TEXT = 500;

/** A message of the upstream as plain text: tags removed, a line break a space, entities decoded once, at most 500 characters. */
export function plainText(html: string): string {
  const bounded = html.slice(0, LONGEST_INPUT);
  const text = decodeHTML(withoutTags(bounded))
    // Control characters have no business in a message; line breaks in HTML are spaces.
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT - 1).trimEnd()}…`;
}

function withoutTags(html: string): string {
  return html
    .replace(/<(script|style)\b[^>]*>.*?<\/\1\s*>/gis, '')
    .replace(/<!--.*?-->/gs, '')
    .replace(/\s*<br\b[^<>]*>\s*/gi, ' ')
    .replace(/<\/?[a-z][^<>]*>/gi, '');
}
