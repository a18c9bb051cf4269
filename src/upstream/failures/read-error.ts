import { type JsonLimits, parseBounded } from '../../lib/bounded-json.ts';
import type { UpstreamResponse } from '../../model/upstream-response.ts';
import { headerValue } from '../../model/header-pairs.ts';

/** The forms that the legacy server's error responses can have. `other` stands for any other form. */
type ErrorShape = 'error' | 'errors.message' | 'html' | 'empty' | 'other';

/** The form of an error response, as recorded in the trace, and the upstream's original message. */
export interface ErrorReading {
  readonly shape: ErrorShape;
  /** The upstream's original message. Undefined unless the body has one of the two JSON forms. */
  readonly message?: string;
  /** The second message of a body that combines both JSON forms. */
  readonly otherMessage?: string;
  /** True if the body is JSON in any form. */
  readonly isJson: boolean;
}

// The maximum size, in bytes, of an error body that the gateway searches for a message. Real error bodies are much
// smaller.
const MAX_ERROR_BYTES = 256 * 1024;
const ERROR_LIMITS: JsonLimits = { depth: 64, values: 10_000 };

/** Returns the form of an error response, as recorded in the trace. */
export function errorShape(response: UpstreamResponse): ErrorShape {
  return readError(response).shape;
}

/** Reads an error response in any of the known forms. A streamed body has the form `other`. */
export function readError(response: UpstreamResponse): ErrorReading {
  if (!Buffer.isBuffer(response.body)) return { shape: 'other', isJson: false };
  if (response.body.length > MAX_ERROR_BYTES) return { shape: isHtmlType(response) ? 'html' : 'other', isJson: false };
  const text = response.body
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim();
  if (text === '') return { shape: 'empty', isJson: false };
  const json = parseBounded(Buffer.from(text), ERROR_LIMITS);
  if (json.state === 'parsed') return messageOf(json.value);
  if (json.state === 'excess') return { shape: 'other', isJson: false };
  // The server may send an HTML page for a `.json` URL and label the page as JSON, so the beginning of the body is also
  // checked.
  const isHtml = isHtmlType(response) || HTML_START.test(withoutProlog(text));
  return { shape: isHtml ? 'html' : 'other', isJson: false };
}

/** Returns the message in a parsed body that has one of the two JSON forms. */
export function messageOf(body: unknown): ErrorReading {
  const error = member(body, 'error');
  const message = member(member(body, 'errors'), 'message');
  if (typeof error === 'string') {
    const other = typeof message === 'string' ? { otherMessage: message } : {};
    return { shape: 'error', message: error, isJson: true, ...other };
  }
  if (typeof message === 'string') return { shape: 'errors.message', message, isJson: true };
  return { shape: 'other', isJson: true };
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name))
    return undefined;
  return (value as Record<string, unknown>)[name];
}

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
