import type { StoredPage } from './stored-page.ts';

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
