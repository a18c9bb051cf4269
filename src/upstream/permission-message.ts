import { decodeHTML } from 'entities';
import type { DocumentedError } from '../model/operation.ts';

/** Returns true if a message of the upstream means that a permission is missing. */
export type PermissionMessage = (message: string, documented: readonly DocumentedError[]) => boolean;

/** Compiles the configured expressions; throws `SyntaxError` if one is invalid. */
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

// These limits allow every documented text. The upstream must not decide how long the gateway's responses are.
const LONGEST_INPUT = 4000;
const LONGEST_TEXT = 2000;

// Text that only resembles a tag, as in `a<b and c>d`, belongs to the message.
const TAG =
  /<\/?(?:a|abbr|b|big|blockquote|body|br|center|code|dd|div|dl|dt|em|font|form|h[1-6]|head|hr|html|i|iframe|img|input|label|li|link|meta|ol|p|pre|s|script|small|span|strong|style|sub|sup|svg|table|tbody|td|th|thead|title|tr|tt|u|ul)(?:\s+[\w-]+\s*=[^<>]*)?\s*\/?>/gi;

/**
 * Converts a message of the upstream to plain text: tags removed, line breaks replaced with spaces, entities decoded
 * once, at most 2,000 characters.
 */
export function plainText(html: string): string {
  const bounded = html.slice(0, LONGEST_INPUT);
  const text = decodeHTML(withoutTags(bounded))
    // Control characters do not belong in a message, and line breaks in HTML are spaces.
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
