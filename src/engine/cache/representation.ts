import { hash } from 'node:crypto';
import { boundedMemo } from '../../lib/bounded-maps.ts';

/**
 * Returns the strong entity tag for a body. The tag contains 132 bits of the body's SHA-256 digest, in quotes
 * (RFC 9110 §8.8.3).
 */
export function etagOf(body: Buffer): string {
  return `"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
}

/**
 * Returns the strong entity tag for the gzip form of a body. `etag` is the entity tag for the plain form, which is a
 * different representation (RFC 9110 §8.8.3.3).
 */
export function gzipEtag(etag: string): string {
  return `${etag.slice(0, -1)}-gzip"`;
}

/** The maximum length of an `If-None-Match` header. Longer headers are ignored. */
const MAX_CHARACTERS = 8192;

// An opaque tag may contain commas but no escapes (RFC 9110 §8.8.3). No two adjacent parts of the pattern match spaces,
// so matching takes linear time.
const MEMBER = /[ \t]*(?:(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y;

/** Returns true if `If-None-Match` is `*` or lists the entity tag. The comparison is weak (RFC 9110 §13.1.2). */
export function notModified(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch.length > MAX_CHARACTERS) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const wanted = etag.startsWith('W/') ? etag.slice(2) : etag;
  MEMBER.lastIndex = 0;
  while (MEMBER.lastIndex < ifNoneMatch.length) {
    const member = MEMBER.exec(ifNoneMatch);
    if (member === null) return false;
    if (member[1] === wanted) return true;
  }
  return false;
}

const MAX_ENCODING_CHARACTERS = 1000;
const MAX_TEXTS = 200;
const CODING = /^\s*(gzip|x-gzip|\*)\s*(?:;\s*q=([01](?:\.[0-9]{0,3})?)\s*)?$/i;

/**
 * Creates a function that returns whether an `Accept-Encoding` header accepts gzip, either by name or through `*`, with
 * a weight above 0 (RFC 9110 §12.5.3). The function caches its results, because clients send few distinct values.
 */
export function createAcceptsGzip(): (acceptEncoding: string | undefined) => boolean {
  const accepts = boundedMemo(MAX_TEXTS, readsGzip);
  return (acceptEncoding) =>
    acceptEncoding !== undefined && acceptEncoding.length <= MAX_ENCODING_CHARACTERS && accepts(acceptEncoding);
}

function readsGzip(text: string): boolean {
  let named: boolean | undefined;
  let any = false;
  for (const member of text.split(',')) {
    const [, coding, weight = '1'] = CODING.exec(member) ?? [];
    if (coding === undefined) continue;
    if (coding === '*') any = Number(weight) > 0;
    else named = Number(weight) > 0;
  }
  return named ?? any;
}
