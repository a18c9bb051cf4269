import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import { headerValue, type HeaderPairs } from '../model/header-pairs.ts';

/** The content codings that can be taken off, as an `Accept-Encoding` value. */
export const ACCEPT_ENCODING = 'gzip, deflate, br, zstd';

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const inflateZlib = promisify(inflate) as Decoder;
const inflateBare = promisify(inflateRaw) as Decoder;
// `deflate` is zlib's format (RFC 9110 §8.4.1.2), but some servers send the bare stream.
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

// Nobody codes a body more often than twice, except to make it explode.
const MOST_CODINGS = 2;

const NO_CODINGS: readonly string[] = [];

/** The content codings of an answer in the order in which they were put on; `identity` left out. */
export function contentCodings(headers: HeaderPairs): readonly string[] {
  if (headerValue(headers, 'content-encoding') === undefined) return NO_CODINGS;
  return headers
    .filter(([name]) => name.toLowerCase() === 'content-encoding')
    .flatMap(([, value]) => value.toLowerCase().split(','))
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
}

/** True when all these codings can be taken off. */
export function areDecodable(codings: readonly string[]): boolean {
  return codings.length <= MOST_CODINGS && codings.every((coding) => DECODERS.has(coding));
}

/** Takes codings off; fails with `too_large` beyond `limit` bytes and with `truncated` on a stream that is cut or damaged. */
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
