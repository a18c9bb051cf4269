import { decodeHTML } from 'entities';
import type { DocumentedError } from '../model/operation.ts';

/** Says whether a message of the upstream means that a permission is missing. */
export type PermissionMessage = (message: string, documented: readonly DocumentedError[]) => boolean;

/** Compiles the configured expressions; throws `SyntaxError` on one that is not valid. */
export function compilePermissionMessage(expressions: readonly string[]): PermissionMessage {
  const patterns = expressions.map((expression) => new RegExp(expression, 'iu'));
  return (message, documented) => {
    const text = plainText(message);
    return (
      documented.some((error) => error.status === 403 && plainText(error.text) === text) ||
      patterns.some((pattern) => pattern.test(text))
    );
  };
}

// Long enough for every documented text; an answer of the upstream must not decide how long ours is.
const LONGEST_INPUT = 4000;
const LONGEST_TEXT = 2000;

// What looks like a tag and is none, as in `a<b and c>d`, belongs to the message.
const TAG =
  /<\/?(?:a|abbr|b|big|blockquote|body|br|center|code|dd|div|dl|dt|em|font|form|h[1-6]|head|hr|html|i|iframe|img|input|label|li|link|meta|ol|p|pre|s|script|small|span|strong|style|sub|sup|svg|table|tbody|td|th|thead|title|tr|tt|u|ul)(?:\s+[\w-]+\s*=[^<>]*)?\s*\/?>/gi;

/** A message of the upstream as plain text: tags removed, a line break a space, entities decoded once, at most 2,000 characters. */
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
    .replace(TAG, '');
}
