import { hash } from 'node:crypto';
import { boundedMemo } from '../../lib/bounded-maps.ts';

/**
 * Returns the strong entity tag for a body. The tag contains 132 bits of the body's SHA-256 digest, in quotes
 * (RFC 9110 §8.8.3).
 */
export function etagOf(body: Buffer): string {
  return `"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
}

/** A content coding in which stored responses can be sent. */
export type Coding = (typeof CODINGS)[number];

/** The content codings of stored responses. If a client accepts several equally, it gets the first of them. */
export const CODINGS = ['zstd', 'gzip'] as const;

/**
 * Returns the strong entity tag for a body in a content coding. `etag` is the entity tag for the plain form, which is a
 * different representation (RFC 9110 §8.8.3.3).
 */
export function codedEtag(etag: string, coding: Coding | undefined): string {
  return coding === undefined ? etag : `${etag.slice(0, -1)}-${coding}"`;
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
const MEMBER_CODING = /^\s*(zstd|gzip|x-gzip|\*)\s*(?:;\s*q=([01](?:\.[0-9]{0,3})?)\s*)?$/i;
const NO_CODINGS: readonly Coding[] = [];

/**
 * Creates a function that returns the content codings that an `Accept-Encoding` header accepts with a weight above 0
 * (RFC 9110 §12.5.3). The coding with the highest weight comes first. `*` stands only for gzip, because clients that
 * send it may be older than zstd. The function caches its results, because clients send few distinct values.
 */
export function createAcceptedCodings(): (acceptEncoding: string | undefined) => readonly Coding[] {
  const accepted = boundedMemo(MAX_TEXTS, readAccepted);
  return (acceptEncoding) =>
    acceptEncoding === undefined || acceptEncoding.length > MAX_ENCODING_CHARACTERS
      ? NO_CODINGS
      : accepted(acceptEncoding);
}

function readAccepted(text: string): readonly Coding[] {
  const weights = new Map<string, number>();
  for (const member of text.split(',')) {
    const [, coding, weight = '1'] = MEMBER_CODING.exec(member) ?? [];
    if (coding !== undefined) weights.set(coding.toLowerCase().replace('x-', ''), Number(weight));
  }
  const weightOf = (coding: Coding) => weights.get(coding) ?? (coding === 'gzip' ? weights.get('*') : undefined) ?? 0;
  return CODINGS.filter((coding) => weightOf(coding) > 0).toSorted((one, other) => weightOf(other) - weightOf(one));
}
