import { headerValue } from '../../model/header-pairs.ts';
import type { UpstreamResponse } from '../../model/upstream-response.ts';

export const HTML_START = /^<(?:!doctype\s+html|html|head|body)\b/i;

/**
 * Returns the input without the comments and XML declarations at its beginning. Each is removed separately, because a
 * single regular expression for all of them would backtrack, and each additional comment would double the time.
 */
export function withoutProlog(text: string): string {
  let at = 0;
  for (;;) {
    const [open, close] = text.startsWith('<!--', at) ? ['<!--', '-->'] : ['<?xml', '>'];
    if (text.slice(at, at + open.length).toLowerCase() !== open) return text.slice(at, at + HTML_START_LENGTH);
    const end = text.indexOf(close, at + open.length);
    if (end === -1) return '';
    at = end + close.length;
    while (/\s/.test(text.charAt(at))) at += 1;
  }
}

/**
 * The length of the part of a body that is searched for the beginning of HTML. It leaves room for white space between
 * the two words of a document type.
 */
const HTML_START_LENGTH = 1000;

export function isHtmlType(response: UpstreamResponse): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(headerValue(response.headers, 'content-type') ?? '');
}
