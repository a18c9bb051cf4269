import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import { headerValue, type HeaderPairs } from '../model/header-pairs.ts';

/** The supported content codings, as an `Accept-Encoding` value. */
export const ACCEPT_ENCODING = 'gzip, deflate, br, zstd';

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const inflateZlib = promisify(inflate) as Decoder;
const inflateBare = promisify(inflateRaw) as Decoder;
// `deflate` means the zlib format (RFC 9110 §8.4.1.2), but some servers send the raw stream.
const inflateEither: Decoder = (bytes, options) =>
  ((bytes[0] ?? 0) & 0x0f) === 8 && bytes.length > 1 && bytes.readUInt16BE(0) % 31 === 0
    ? inflateZlib(bytes, options)
    : inflateBare(bytes, options);

const DECODERS: ReadonlyMap<string, Decoder> = new Map([
  ['gzip', promisify(gunzip) as Decoder],
  ['x-gzip', promisify(gunzip) as Decoder],
  ['deflate', inflateEither],
  ['br', promisify(brotliDecompress) as Decoder],
  ['zstd', promisify(zstdDecompress) as Decoder],
]);

// More than two codings of one body are a sign of a decompression bomb.
const MOST_CODINGS = 2;

const NO_CODINGS: readonly string[] = [];

/** Returns the content codings of a response in the order in which they were applied, without `identity`. */
export function contentCodings(headers: HeaderPairs): readonly string[] {
  if (headerValue(headers, 'content-encoding') === undefined) return NO_CODINGS;
  return headers
    .filter(([name]) => name.toLowerCase() === 'content-encoding')
    .flatMap(([, value]) => value.toLowerCase().split(','))
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
}

/** Returns true if all these codings are supported. */
export function areDecodable(codings: readonly string[]): boolean {
  return codings.length <= MOST_CODINGS && codings.every((coding) => DECODERS.has(coding));
}

/**
 * Decodes a body; fails with `too_large` beyond `limit` bytes and with `truncated` if the stream is incomplete or
 * damaged.
 */
export async function decodeContent(bytes: Buffer, codings: readonly string[], limit: number): Promise<Buffer> {
  let decoded = bytes;
  for (const coding of codings.toReversed()) {
    const decoder = DECODERS.get(coding);
    if (!decoder || decoded.length === 0) break;
    try {
      decoded = await decoder(decoded, { maxOutputLength: limit });
    } catch (error) {
      const tooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
      throw new UpstreamFailure(tooLarge ? 'too_large' : 'truncated', { cause: error });
    }
  }
  return decoded;
}
