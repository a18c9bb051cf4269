import { hash } from 'node:crypto';

/** The strong entity tag of a body: 132 bits of its SHA-256, quoted (RFC 9110, 8.8.3). */
export function etagOf(body: Buffer): string {
  return `"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
}

/** The strong entity tag of the gzip form of a body: two forms are two representations (RFC 9110, 8.8.3.3). */
export function gzipEtag(etag: string): string {
  return `${etag.slice(0, -1)}-gzip"`;
}

/** Longest `If-None-Match` that is read; a longer one is answered in full. */
const MAX_CHARACTERS = 8192;

// RFC 9110, 8.8.3: opaque tags may hold commas, and no escapes. No two runs of spaces meet, so a match takes linear time.
const MEMBER = /[ \t]*(?:(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y;

/** Whether `If-None-Match` names the entity tag: `*`, or any of a list under weak comparison (RFC 9110, 13.1.2). */
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
