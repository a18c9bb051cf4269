/** The strong entity tag of the gzip form of a body: two forms are two representations (RFC 9110, 8.8.3.3). */
export function gzipEtag(etag: string): string {
  return `${etag.slice(0, -1)}-gzip"`;
}
