import { createReadStream } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { brotliDecompressSync, createGunzip, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { isPlainObject, type PlainObject } from '../../lib/plain-object.ts';
import { jsonElements } from './json-elements.ts';
import { textLines } from './text-lines.ts';

/** A request in a recording and, if the recording has it, the response. */
export interface CapturedExchange {
  readonly method: string;
  /** The host to which the request was sent, with its port. Undefined if the recording does not state it. */
  readonly host: string | undefined;
  /** The path and query, below the server's base address. */
  readonly target: string;
  readonly response: CapturedResponse | undefined;
}

/** A recorded response. */
export interface CapturedResponse {
  readonly status: number;
  /** Undefined if there is no content type, or if it was not recorded. */
  readonly mediaType: string | undefined;
  /** Undefined if the body was not recorded, so that nothing can be said about it. */
  readonly body: Buffer | undefined;
}

/** An entry that cannot be read, and why. */
export interface Unreadable {
  readonly unreadable: 'too large' | 'not a request';
}

/** The error for a file that is no recording. The message continues after its name. */
export class NotARecording extends Error {
  override readonly name = 'NotARecording';
}

/** The maximum size of one entry or line. */
const MAX_ENTRY_BYTES = 32 * 1024 * 1024;

/**
 * Reads a recording of any size, of which only one entry is in memory: a HAR file, or a log whose lines are in the common
 * or combined format or are JSON objects. It may also be a stream. What is compressed is decompressed. `apiPath` is the
 * path under which all addresses of the API lie; what precedes it is the server's own prefix.
 */
export async function* readCapture(
  file: string | AsyncIterable<Buffer, undefined>,
  apiPath: string,
): AsyncGenerator<CapturedExchange | Unreadable> {
  let read = await withStart(typeof file === 'string' ? createReadStream(file, CHUNKS) : file);
  // Logs that were rotated and archived can be compressed twice.
  for (let layer = 0; layer < 2 && isGzip(read.start); layer += 1) read = await withStart(unzipped(read.chunks));
  try {
    if (isUtf16(read.start)) throw new NotARecording('is in UTF-16: convert it to UTF-8');
    if (isZip(read.start)) throw new NotARecording('is a ZIP archive: extract it first');
    const text = read.start.toString('utf8');
    const isHar =
      (typeof file === 'string' && /\.har(?:\.gz)?$/i.test(file)) || /^\uFEFF?\s*\{\s*"log"\s*:\s*\{/.test(text);
    for await (const entry of isHar ? harEntries(read.chunks) : lineEntries(read.chunks))
      yield 'unreadable' in entry ? entry : { ...entry, target: belowPrefix(entry.target, apiPath) };
  } finally {
    await read.chunks.return(undefined);
  }
}

const CHUNKS = { highWaterMark: 256 * 1024 };
const START_BYTES = 4096;

/** What is read, with its beginning, which shows what it is. */
interface Started {
  readonly start: Buffer;
  readonly chunks: AsyncGenerator<Buffer>;
}

async function withStart(source: AsyncIterable<Buffer, undefined>): Promise<Started> {
  const chunks = source[Symbol.asyncIterator]();
  const first: Buffer[] = [];
  let bytes = 0;
  let failure: Error | undefined;
  try {
    while (bytes < START_BYTES) {
      const next = await chunks.next();
      if (next.done === true) break;
      first.push(next.value);
      bytes += next.value.length;
    }
  } catch (error) {
    if (bytes === 0 || !(error instanceof Error)) throw error;
    // What precedes a damaged place can be read.
    failure = error;
  }
  async function* all(): AsyncGenerator<Buffer> {
    try {
      yield* first.splice(0);
      if (failure !== undefined) throw failure;
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
    } finally {
      await chunks.return?.();
    }
  }
  return { start: Buffer.concat(first).subarray(0, START_BYTES), chunks: all() };
}

async function* unzipped(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // An error of either stream ends both, and reaches the reader.
  const gunzip = pipeline(Readable.from(chunks), createGunzip(), () => undefined);
  for await (const chunk of gunzip) yield chunk as Buffer;
}

const isGzip = (start: Buffer) => start[0] === 0x1f && start[1] === 0x8b;
const isZip = (start: Buffer) => start.subarray(0, 4).toString('latin1') === 'PK\u0003\u0004';
const isUtf16 = (start: Buffer) => (start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff);

type Entry = CapturedExchange | Unreadable;

async function* harEntries(chunks: AsyncIterable<Buffer>): AsyncGenerator<Entry> {
  for await (const element of jsonElements(chunks, ['log', 'entries'], MAX_ENTRY_BYTES))
    yield 'bytes' in element ? harEntry(parsed(element.bytes.toString('utf8'))) : { unreadable: 'too large' };
}

function harEntry(entry: PlainObject | undefined): Entry {
  const [request, response] = [entry?.['request'], entry?.['response']];
  const { method, url } = isPlainObject(request) ? request : {};
  const target = typeof url === 'string' ? pathOf(url) : undefined;
  if (typeof method !== 'string' || target === undefined) return { unreadable: 'not a request' };
  return {
    method: method.toUpperCase(),
    host: hostOf(String(url)),
    target,
    response: isPlainObject(response) ? harResponse(response) : undefined,
  };
}

function harResponse({ status, content, headers }: PlainObject): CapturedResponse | undefined {
  // Browsers write the status 0 for a request that was blocked or failed.
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 100 || status > 599) return undefined;
  const recorded = isPlainObject(content) ? content : {};
  const header = (name: string): string | undefined => {
    const found = Array.isArray(headers)
      ? (headers as unknown[]).find((one) => isPlainObject(one) && String(one['name']).toLowerCase() === name)
      : undefined;
    return isPlainObject(found) && typeof found['value'] === 'string' ? found['value'] : undefined;
  };
  const { mimeType } = recorded;
  const mediaType = header('content-type') ?? (typeof mimeType === 'string' && mimeType !== '' ? mimeType : undefined);
  const hasNoBody = status === 204 || (status >= 300 && status < 400) || header('content-length') === '0';
  return { status, mediaType, body: harBody(recorded, hasNoBody, header('content-encoding')) };
}

/** Returns the whole body. Undefined if it is missing or incomplete, because nothing can be said about it then. */
function harBody(
  { text, encoding, size }: PlainObject,
  hasNoBody: boolean,
  coding: string | undefined,
): Buffer | undefined {
  // Many exporters leave the text out, and some state the size 0 then.
  if (typeof text !== 'string') return hasNoBody && (size === undefined || size === 0) ? Buffer.alloc(0) : undefined;
  if (encoding !== 'base64') return whole(Buffer.from(text), size);
  const bytes = Buffer.from(text, 'base64');
  // Browsers record what they have decompressed; some proxies record what was sent.
  const decompress = isGzip(bytes) ? gunzipSync : CODINGS[coding?.trim().toLowerCase() ?? ''];
  if (decompress === undefined) return whole(bytes, size);
  try {
    return decompress(bytes, { maxOutputLength: MAX_ENTRY_BYTES });
  } catch (error) {
    const isCompressed = isGzip(bytes) || (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    return isCompressed ? undefined : whole(bytes, size);
  }
}

const CODINGS: Readonly<Record<string, typeof gunzipSync>> = {
  br: brotliDecompressSync,
  deflate: inflateSync,
  zstd: zstdDecompressSync as typeof gunzipSync,
};

/** Firefox cuts long bodies off, and states their whole size. */
const whole = (body: Buffer, size: unknown) => (typeof size === 'number' && size > body.length ? undefined : body);

async function* lineEntries(chunks: AsyncIterable<Buffer>): AsyncGenerator<Entry> {
  for await (const line of textLines(chunks, MAX_ENTRY_BYTES)) {
    if (!('text' in line)) yield { unreadable: 'too large' };
    // Programs that log JSON write other lines, too, for example when they start.
    else if (/^\uFEFF?\s*\{/.test(line.text)) yield jsonEntry(parsed(line.text));
    else if (line.text.trim() !== '') yield logEntry(line.text);
  }
}

/** The request line and, if it follows at once, the status, as in the common and combined log formats. */
const LOG_LINE =
  /"([A-Z]{3,20}) ((?:\/|https?:\/\/)(?:[^\s"\\]|\\(?:x[\dA-Fa-f]{2}|["\\])){0,8000})(?: HTTP\/\d(?:\.\d)?)?"(?: (\d{3})(?=\s|$))?/;

function logEntry(line: string): Entry {
  const [, method, written = '', status] = LOG_LINE.exec(line.slice(0, 20_000)) ?? [];
  const target = pathOf(unescaped(written));
  if (method === undefined || target === undefined) return { unreadable: 'not a request' };
  const response = status === undefined ? undefined : { status: Number(status), mediaType: undefined, body: undefined };
  return { method, host: hostOf(written), target, response };
}

/** Servers write bytes that would break a line as `\xHH`, and some write quotes and backslashes with a backslash. */
const unescaped = (written: string) =>
  written.replaceAll(/\\(?:x([\dA-Fa-f]{2})|(["\\]))/g, (_, byte: string | undefined, character: string) =>
    byte === undefined ? encodeURIComponent(character) : `%${byte.toUpperCase()}`,
  );

/** The names under which logs have the parts of an exchange, in the order in which they are looked for. */
const NAMES = {
  method: ['method', 'request_method', 'http_method', 'verb', 'RequestMethod'],
  target: ['target', 'url', 'uri', 'request_uri', 'path', 'request', 'RequestPath'],
  query: ['query', 'args', 'query_string', 'queryString'],
  status: ['status', 'status_code', 'statusCode', 'response_code', 'DownstreamStatus'],
  mediaType: ['contentType', 'content_type', 'mediaType', 'mimeType'],
  body: ['body', 'responseBody', 'response_body'],
} as const;

function jsonEntry(entry: PlainObject | undefined): Entry {
  const inner = entry === undefined ? [] : [entry, entry['request'], entry['req'], entry['response'], entry['res']];
  const objects = inner.filter(isPlainObject);
  // Portico's own access log has neither ids nor queries, so its paths are no requests.
  if (entry !== undefined && ['requestId', 'spanId', 'operation', 'msg'].every((name) => Object.hasOwn(entry, name)))
    return { unreadable: 'not a request' };
  const find = (part: keyof typeof NAMES): unknown => {
    for (const name of NAMES[part])
      for (const object of objects)
        if (Object.hasOwn(object, name) && !isPlainObject(object[name])) return object[name];
    // A body is the only part that can be an object.
    return undefined;
  };
  const [method, url, status, mediaType] = [find('method'), find('target'), find('status'), find('mediaType')];
  const query = find('query');
  const [, verb, address] = typeof url === 'string' ? (/^([A-Z]{3,20}) (\S+)(?: HTTP\/\S+)?$/.exec(url) ?? []) : [];
  const written = typeof url === 'string' ? (address ?? url) : '';
  // Some logs have the query apart from the path. Without it, another page would be requested.
  const isApart = typeof query === 'string' && /^\??./.test(query) && query !== '-' && !written.includes('?');
  const target = pathOf(isApart ? `${written}?${query.replace(/^\?/, '')}` : written);
  const word = typeof method === 'string' ? method : verb;
  if (word === undefined || target === undefined) return { unreadable: 'not a request' };
  const number = typeof status === 'string' ? Number(status) : status;
  const isStatus = typeof number === 'number' && Number.isInteger(number) && number >= 100 && number <= 599;
  const body = bodyOf(objects);
  return {
    method: word.toUpperCase(),
    host: hostOf(written),
    target,
    response: isStatus
      ? { status: number, mediaType: typeof mediaType === 'string' ? mediaType : body && 'application/json', body }
      : undefined,
  };
}

function bodyOf(objects: readonly PlainObject[]): Buffer | undefined {
  for (const name of NAMES.body)
    for (const object of objects) {
      const value = object[name];
      if (typeof value === 'string') return Buffer.from(value);
      if (typeof value === 'object' && value !== null) return Buffer.from(JSON.stringify(value));
    }
  return undefined;
}

function parsed(text: string): PlainObject | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the path and query of an address. Returns undefined if it is neither a path nor an address of HTTP. */
function pathOf(address: string): string | undefined {
  const path = address.startsWith('/') && !address.startsWith('//') ? address : ofUrl(address);
  // Bytes that are no UTF-8 cannot be restored.
  if (path === undefined || path.includes('\uFFFD') || !path.isWellFormed()) return undefined;
  // Some servers log characters that clients must encode.
  return path.split('#', 1)[0]?.replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent);
}

function ofUrl(address: string): string | undefined {
  const [, path] = /^https?:\/\/[^/?#\s]+([/?#].*)?$/i.exec(address) ?? [];
  if (!/^https?:\/\//i.test(address)) return undefined;
  return path === undefined ? '/' : path.startsWith('/') ? path : `/${path}`;
}

/** Returns the host of an address, if it is not only a path. */
const hostOf = (address: string): string | undefined => (URL.canParse(address) ? new URL(address).host : undefined);

function belowPrefix(target: string, apiPath: string): string {
  const at = target.split('?', 1)[0]?.indexOf(apiPath) ?? -1;
  return at > 0 ? target.slice(at) : target;
}
