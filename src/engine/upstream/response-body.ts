import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib';
import { BodyParts } from '../../lib/body-parts.ts';
import { type HeaderPairs, headerValue } from '../model/header-pairs.ts';
import { StreamedBody } from '../model/streamed-body.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import type { BufferedResponse, StreamedResponse } from './sending.ts';

/** A response from the upstream. Its decoded body is either in memory or, if it is too large, a stream. */
export interface UpstreamResponse {
  readonly status: number;
  /** The reason phrase. Undefined if it is not forwarded. */
  readonly reason?: string;
  /** The end-to-end headers. */
  readonly headers: HeaderPairs;
  readonly body: Buffer | StreamedBody;
}

/**
 * Why the content coding of a complete response cannot be removed. `mislabelled`: the body does not have the coding that
 * its label states, or it has a coding without a label. `unsupported`: Portico cannot remove the coding, and did not ask
 * for it.
 */
export type CodingFault = 'mislabelled' | 'unsupported';

/** A response without its content coding or, if `codingFault` is set, exactly as received. */
export interface DecodedResponse extends BufferedResponse {
  readonly codingFault?: CodingFault;
}

/** Returns the response with its content coding removed if possible. Throws `too_large` and `truncated` failures. */
export function decodeResponse(
  method: string,
  sent: BufferedResponse,
  limit: number,
): DecodedResponse | Promise<DecodedResponse> {
  const { status, headers, body } = sent;
  const codings = contentCodings(headers);
  if (!areDecodable(codings)) return body.length === 0 ? sent : { ...sent, codingFault: 'unsupported' };
  if (codings.length === 0 && !isCompressed(body))
    return { status, headers: withLength(headers, method, codings, body), body };
  return decodeContent(body, codings, limit).then((decoded) =>
    decoded === 'mislabelled'
      ? { ...sent, codingFault: decoded }
      : { status, headers: withLength(headers, method, codings, decoded), body: decoded },
  );
}

/**
 * Returns the response as received: in memory if it fits, otherwise as a stream. An incomplete body becomes a stream
 * that yields the received bytes and then fails.
 */
export function transparentResponse(
  { status, headers, body }: StreamedResponse,
  limit: number,
): Promise<UpstreamResponse> {
  return new Promise((resolve) => {
    const received = new BodyParts();
    body.read({
      part(bytes) {
        received.add(bytes);
        if (received.length <= limit) return true;
        body.unread(received.whole());
        resolve({ status, headers, body });
        return false;
      },
      end(failure) {
        const bytes = received.whole();
        resolve({ status, headers, body: failure === undefined ? bytes : brokenBody(bytes, failure) });
      },
    });
  });
}

/**
 * The body of a transparent response without its content coding, which is used only for checks. It is undefined if the
 * body is too large or its coding is unknown, `damaged` if the encoded body is incomplete or damaged, and `mislabelled`
 * if it does not have the coding that its label states.
 */
export type InspectedBody = Buffer | 'damaged' | 'mislabelled' | undefined;

/** Returns the body of a transparent response without its content coding. */
export async function decodeForInspection(response: UpstreamResponse, limit: number): Promise<InspectedBody> {
  if (!Buffer.isBuffer(response.body)) return undefined;
  const codings = contentCodings(response.headers);
  if (!areDecodable(codings)) return undefined;
  return decodeContent(response.body, codings, limit).catch((error: unknown) =>
    error instanceof UpstreamFailure && error.kind === 'truncated' ? 'damaged' : undefined,
  );
}

// The decoded body no longer has a content coding, so `Content-Encoding` is removed, and `Content-Length` is set to the
// length of the decoded body.
function withLength(headers: HeaderPairs, method: string, codings: readonly string[], body: Buffer): HeaderPairs {
  const isHead = method === 'HEAD';
  if (codings.length === 0 && isPlain(headers, isHead ? undefined : String(body.length))) return headers;
  return headers.flatMap(([name, value]): HeaderPairs => {
    const key = name.toLowerCase();
    if (key === 'content-encoding') return [];
    if (key !== 'content-length') return [[name, value]];
    if (isHead) return codings.length > 0 ? [] : [[name, value]];
    return [[name, String(body.length)]];
  });
}

// Returns whether all headers can be used unchanged.
function isPlain(headers: HeaderPairs, length: string | undefined): boolean {
  return headers.every(([name, value]) => {
    if (name.length === 16) return name.toLowerCase() !== 'content-encoding';
    return length === undefined || name.length !== 14 || value === length || name.toLowerCase() !== 'content-length';
  });
}

/**
 * Creates a body that yields the received bytes and then fails, so that its reader cannot mistake it for a complete
 * body.
 */
function brokenBody(bytes: Buffer, failure: UpstreamFailure): StreamedBody {
  const body = new StreamedBody();
  if (bytes.length > 0) body.push(bytes);
  body.finish(failure);
  return body;
}

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const inflateZlib = promisify(inflate) as Decoder;
const inflateBare = promisify(inflateRaw) as Decoder;
// `deflate` means the zlib format (RFC 9110 §8.4.1.2), but some servers send a raw deflate stream.
const inflateEither: Decoder = (bytes, options) =>
  hasZlibHeader(bytes) ? inflateZlib(bytes, options) : inflateBare(bytes, options);

const hasZlibHeader = (bytes: Buffer) =>
  ((bytes[0] ?? 0) & 0x0f) === 8 && bytes.length > 1 && bytes.readUInt16BE(0) % 31 === 0;

const DECODERS: ReadonlyMap<string, Decoder> = new Map([
  ['gzip', promisify(gunzip) as Decoder],
  ['x-gzip', promisify(gunzip) as Decoder],
  ['deflate', inflateEither],
  ['br', promisify(brotliDecompress) as Decoder],
  ['zstd', promisify(zstdDecompress) as Decoder],
]);

// A body with more than two codings is probably a decompression bomb.
const MAX_CODINGS = 2;

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

/** Returns whether all of these codings are supported. */
function areDecodable(codings: readonly string[]): boolean {
  return codings.length <= MAX_CODINGS && codings.every((coding) => DECODERS.has(coding));
}

/**
 * Decodes a body, or returns `mislabelled` if the body does not have exactly these codings. Fails with `too_large` if
 * the result exceeds `limit` bytes, and with `truncated` if the stream is incomplete or damaged.
 */
async function decodeContent(
  bytes: Buffer,
  codings: readonly string[],
  limit: number,
): Promise<Buffer | 'mislabelled'> {
  let decoded = bytes;
  for (const coding of codings.toReversed()) {
    const decoder = DECODERS.get(coding);
    if (!decoder || decoded.length === 0) break;
    try {
      decoded = await decoder(decoded, { maxOutputLength: limit });
    } catch (error) {
      const tooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
      if (tooLarge) throw new UpstreamFailure('too_large', { cause: error, limitBytes: limit });
      if (isMislabelled(decoded, coding, error)) return 'mislabelled';
      throw new UpstreamFailure('truncated', { cause: error });
    }
  }
  return isCompressed(decoded) ? 'mislabelled' : decoded;
}

const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** The first bytes of all bodies with a coding. The other codings have no such mark. */
const MARKS: ReadonlyMap<string, Buffer> = new Map([
  ['gzip', GZIP],
  ['x-gzip', GZIP],
  ['zstd', ZSTD],
]);

/** Returns whether the bytes begin with the mark, or are the beginning of it. */
const begins = (bytes: Buffer, mark: Buffer) => {
  const length = Math.min(bytes.length, mark.length);
  return bytes.compare(mark, 0, length, 0, length) === 0;
};

/** Returns whether a body whose codings have all been removed still has one. No JSON document or page begins this way. */
function isCompressed(bytes: Buffer): boolean {
  const [first] = bytes;
  if (first !== GZIP[0] && first !== ZSTD[0]) return false;
  return [GZIP, ZSTD].some((mark) => bytes.length >= mark.length && begins(bytes, mark));
}

/**
 * Returns whether a body that cannot be decoded has another coding than its label states. Otherwise, it has the coding
 * but is incomplete or damaged.
 */
function isMislabelled(bytes: Buffer, coding: string, error: unknown): boolean {
  const mark = MARKS.get(coding);
  if (mark !== undefined) return !begins(bytes, mark);
  if (isText(bytes) || isCompressed(bytes)) return true;
  // Without a mark, an incomplete body can be recognized only by its missing end.
  const isIncomplete = error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR';
  return !isIncomplete && !(coding === 'deflate' && hasZlibHeader(bytes));
}

/** The number of bytes that are searched for control characters. */
const SEARCHED_BYTES = 65_536;
/** Encoded bytes without control characters are no longer than this, except by a chance of less than one in a billion. */
const MAX_CHANCE_BYTES = 256;
// oxlint-disable-next-line no-control-regex -- the pattern matches control characters
const CONTROL = /[\0-\u0008\u000b\u000c\u000e-\u001f]/;

/** Returns whether the bytes are plain text, which encoded bytes practically never are, unless there is only one. */
function isText(bytes: Buffer): boolean {
  if (bytes.length < 2) return false;
  if (CONTROL.test(bytes.toString('latin1', 0, SEARCHED_BYTES))) return false;
  return bytes.length >= MAX_CHANCE_BYTES || isUtf8(bytes);
}
