import { boundedMemo } from '../lib/bounded-memo.ts';
import type { StoredPage } from './stored-page.ts';

const MAX_CHARACTERS = 1000;
const MAX_TEXTS = 200;
const MEMBER = /^\s*(gzip|x-gzip|\*)\s*(?:;\s*q=([01](?:\.[0-9]{0,3})?)\s*)?$/i;

/**
 * Creates a function that returns true if `Accept-Encoding` accepts gzip (RFC 9110, 12.5.3): by name or by `*`, with a
 * weight above 0. Results are cached, because clients send few distinct values.
 */
export function createAcceptsGzip(): (acceptEncoding: string | undefined) => boolean {
  const accepts = boundedMemo(MAX_TEXTS, readsGzip);
  return (acceptEncoding) =>
    acceptEncoding !== undefined && acceptEncoding.length <= MAX_CHARACTERS && accepts(acceptEncoding);
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

/** Compresses a body without blocking the event loop. */
export type Compress = (body: Buffer) => Promise<Buffer>;

/** The maximum number of concurrent compressions. Further pages are compressed when they are next requested. */
const MAX_COMPRESSING = 4;

/** Creates a function that compresses each page once and passes on the result if it is smaller. Errors are ignored. */
export function createCompressOnce(compress: Compress): (page: StoredPage, keep: (bytes: Buffer) => void) => void {
  // Pages whose compression has started or finished.
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
