import { decodeHTML } from 'entities/decode';
import type { DocumentedError } from '../../model/operation.ts';

/** Returns whether a message from the upstream means that a permission is missing. */
export type PermissionMessage = (message: string, documented: readonly DocumentedError[]) => boolean;

/** Compiles the configured expressions. Throws a `SyntaxError` if one of them is invalid. */
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

// These limits prevent the upstream from making the gateway's responses arbitrarily long. All documented messages are
// within the limits.
const LONGEST_INPUT = 4000;
const LONGEST_TEXT = 2000;

// Text that only resembles a tag, as in `a<b and c>d`, is part of the message.
const TAG =
  /<\/?(?:a|abbr|b|big|blockquote|body|br|center|code|dd|div|dl|dt|em|font|form|h[1-6]|head|hr|html|i|iframe|img|input|label|li|link|meta|ol|p|pre|s|script|small|span|strong|style|sub|sup|svg|table|tbody|td|th|thead|title|tr|tt|u|ul)(?:\s+[\w-]+\s*=[^<>]*|\s*\/?)>/gi;

// Before these characters, `<` begins a tag, a comment or a declaration in HTML. Before any others, it is text.
const TAG_START = /<(?=[a-z/!?])/gi;

/**
 * Converts a message from the upstream to plain text of at most 2,000 characters. Tags are removed, line breaks are
 * replaced with spaces, and entities are decoded once. The text is no markup, even if a client shows it as HTML: every
 * `<` that would begin a tag, such as one that was an entity, is replaced with `‹`.
 */
export function plainText(html: string): string {
  const bounded = html.slice(0, LONGEST_INPUT);
  const text = decodeHTML(withoutTags(bounded))
    // Control characters do not belong in a message, and a line break in HTML is equivalent to a space.
    .replace(/\p{Cc}+/gu, ' ')
    .replace(TAG_START, '‹')
    .trim();
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT - 1).trimEnd()}…`;
}

function withoutTags(html: string): string {
  return INVISIBLE.reduce((text, marks) => withoutParts(text, marks), html)
    .split(/<br\b[^<>]*>/i)
    .map((line) => line.trim())
    .join(' ')
    .replace(TAG, '');
}

/** The parts of an HTML page that a browser does not show. Each list contains the marks of a part, in order. */
const INVISIBLE: readonly (readonly RegExp[])[] = [
  [/<script\b/gi, />/g, /<\/script\s*>/gi],
  [/<style\b/gi, />/g, /<\/style\s*>/gi],
  [/<!--/g, /-->/g],
];

/**
 * Removes every part from the first mark to the last one. The marks are global expressions. Each is searched for only
 * after the previous one, so the time grows linearly even if most parts have no end.
 */
function withoutParts(text: string, marks: readonly RegExp[]): string {
  let kept = '';
  let from = 0;
  for (;;) {
    let begin = -1;
    let at = from;
    for (const mark of marks) {
      mark.lastIndex = at;
      const found = mark.exec(text);
      if (found === null) return kept + text.slice(from);
      if (begin < 0) begin = found.index;
      at = mark.lastIndex;
    }
    kept += text.slice(from, begin);
    from = at;
  }
}
