import type { StoredPage } from './stored-page.ts';

const MAX_CHARACTERS = 1000;
const MAX_TEXTS = 200;
const MEMBER = /^\s*(gzip|x-gzip|\*)\s*(?:;\s*q=([01](?:\.[0-9]{0,3})?)\s*)?$/i;

/**
 * Tells whether a client takes gzip by its `Accept-Encoding` (RFC 9110, 12.5.3): named itself, or by `*`, and not with a
 * weight of 0. Clients send few texts, so that what was read of one is remembered.
 */
export function createAcceptsGzip(): (acceptEncoding: string | undefined) => boolean {
  const known = new Map<string, boolean>();
  return (acceptEncoding) => {
    if (acceptEncoding === undefined || acceptEncoding.length > MAX_CHARACTERS) return false;
    const before = known.get(acceptEncoding);
    if (before !== undefined) return before;
    const accepts = readsGzip(acceptEncoding);
    if (known.size >= MAX_TEXTS) known.clear();
    known.set(acceptEncoding, accepts);
    return accepts;
  };
}

function readsGzip(text: string): boolean {
  let named: boolean | undefined;
  let any = false;
  for (const member of text.split(',')) {
    const [, coding, weight = '1'] = MEMBER.exec(member) ?? [];
    if (coding === undefined) continue;
    if (coding === '*') any = Number(weight) > 0;
    else named = Number(weight) > 0;
  }
  return named ?? any;
}

/** Makes the gzip form of a body without holding up the event loop. */
export type Compress = (body: Buffer) => Promise<Buffer>;

/** Compressions under way at one time; a page that comes on top is compressed later. */
const MAX_COMPRESSING = 4;

/** Compresses each page once, and hands over what is smaller than the page; what cannot be compressed is sent as it is. */
export function createCompressOnce(compress: Compress): (page: StoredPage, keep: (bytes: Buffer) => void) => void {
  // Pages that were compressed or are just being: what came of it is with the page.
  const begun = new WeakSet<StoredPage>();
  let compressing = 0;
  return (page, keep) => {
    if (begun.has(page) || compressing >= MAX_COMPRESSING) return;
    begun.add(page);
    compressing += 1;
    compress(page.body)
      .then((bytes) => (bytes.length < page.body.length ? keep(bytes) : undefined))
      .catch(() => undefined)
      .finally(() => {
        compressing -= 1;
      })
      .catch(() => undefined);
  };
}
