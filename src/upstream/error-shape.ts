import { type JsonLimits, parseBounded } from '../lib/bounded-json.ts';
import { headerValue } from '../model/header-pairs.ts';
import type { UpstreamResponse } from '../model/upstream-response.ts';

/** The shapes of the legacy server's error responses; `other` is any other form. */
type ErrorShape = 'error' | 'errors.message' | 'html' | 'empty' | 'other';

/** The shape of an error response, for the trace, and the upstream's original message. */
export interface ErrorReading {
  readonly shape: ErrorShape;
  /** Present with both JSON shapes only. */
  readonly message?: string;
  /** The second message of a body that has both shapes. */
  readonly otherMessage?: string;
  /** True if the body is JSON of any form. */
  readonly isJson: boolean;
}

// Error bodies are small; larger ones are not searched for a message.
const LARGEST_ERROR = 256 * 1024;
const ERROR_LIMITS: JsonLimits = { depth: 64, values: 10_000 };

/** Returns the shape of an error response, as recorded in the trace. */
export function errorShape(answer: UpstreamResponse): ErrorShape {
  return readError(answer).shape;
}

/** Parses an error response in each known shape; a streamed body is `other`. */
export function readError(answer: UpstreamResponse): ErrorReading {
  if (!Buffer.isBuffer(answer.body)) return { shape: 'other', isJson: false };
  if (answer.body.length > LARGEST_ERROR) return { shape: isHtmlType(answer) ? 'html' : 'other', isJson: false };
  const text = answer.body
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim();
  if (text === '') return { shape: 'empty', isJson: false };
  const json = parseBounded(Buffer.from(text), ERROR_LIMITS);
  if (json.state === 'parsed') return messageOf(json.value);
  if (json.state === 'excess') return { shape: 'other', isJson: false };
  // HTML pages are also sent for `.json` addresses and may be labeled as JSON, so the beginning of the body is checked
  // too.
  const isHtml = isHtmlType(answer) || HTML_START.test(withoutProlog(text));
  return { shape: isHtml ? 'html' : 'other', isJson: false };
}

/** Returns the message of a parsed body, in either JSON shape. */
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

const HTML_START = /^<(?:!doctype\s+html|html|head|body)\b/i;

/**
 * Returns a text without the comments and XML declarations at its beginning. A single regular expression for all of
 * them would try every way to divide them among its repetitions, and the time would double with each comment.
 */
function withoutProlog(text: string): string {
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

/** White space may separate the two words of a document type. */
const HTML_START_LENGTH = 1000;

function isHtmlType(answer: UpstreamResponse): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(headerValue(answer.headers, 'content-type') ?? '');
}
