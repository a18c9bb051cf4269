import { createReadStream, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { isPlainObject, type PlainObject } from '../../lib/plain-object.ts';
import { jsonElements } from './json-elements.ts';
import { textLines } from './text-lines.ts';

/** A request in a recording and, if the recording has it, the response. */
export interface CapturedExchange {
  readonly method: string;
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

/** The kinds of files that can be read. */
export type CaptureKind = 'har' | 'json-lines' | 'access-log';

/** The error for a folder or a device. The message continues after its name. */
export class NotAFile extends Error {
  override readonly name = 'NotAFile';
}

/** The maximum size of one entry or line. */
const MAX_ENTRY_BYTES = 32 * 1024 * 1024;

/**
 * Reads a recording of any size, of which only one entry is in memory: a HAR file, an access log in the common or
 * combined format, or a log with a JSON object in each line. Files that end in `.gz` are decompressed. `apiPath` is the
 * path under which all addresses of the API lie; what precedes it is the server's own prefix.
 */
export async function* readCapture(
  file: string,
  apiPath: string,
  from = 0,
): AsyncGenerator<CapturedExchange | Unreadable> {
  const kind = await kindOfFile(file);
  let at = 0;
  const entries = kind === 'har' ? harEntries(chunksOf(file)) : lineEntries(chunksOf(file), kind);
  for await (const entry of entries) {
    at += 1;
    // A run that continues skips what an earlier one has read.
    if (at <= from) continue;
    if (entry === undefined) continue;
    if ('unreadable' in entry) yield entry;
    else yield { ...entry, target: belowPrefix(entry.target, apiPath) };
  }
}

async function* chunksOf(file: string): AsyncGenerator<Buffer> {
  const stream = createReadStream(file, { highWaterMark: 256 * 1024 });
  const source = file.endsWith('.gz') ? stream.pipe(createGunzip()) : stream;
  stream.on('error', (error) => source.destroy(error));
  try {
    for await (const chunk of source) yield chunk as Buffer;
  } finally {
    stream.destroy();
  }
}

/** Returns the kind of a file, which its beginning shows. Throws if it cannot be read. */
async function kindOfFile(file: string): Promise<CaptureKind> {
  const start = await beginning(file);
  if (/\.har(?:\.gz)?$/i.test(file) || /^\uFEFF?\s*\{\s*"log"\s*:\s*\{/.test(start)) return 'har';
  return /^\uFEFF?\s*\{/.test(start) ? 'json-lines' : 'access-log';
}

async function beginning(file: string): Promise<string> {
  if (!statSync(file).isFile()) throw new NotAFile('is not a file');
  if (file.endsWith('.gz')) {
    for await (const chunk of chunksOf(file)) return chunk.subarray(0, 4096).toString('utf8');
    return '';
  }
  const handle = await open(file, 'r');
  try {
    const buffer = Buffer.alloc(4096);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

type Entry = CapturedExchange | Unreadable | undefined;

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
    target,
    response: isPlainObject(response) ? harResponse(response) : undefined,
  };
}

function harResponse({ status, content, headers }: PlainObject): CapturedResponse | undefined {
  // Browsers write the status 0 for a request that was blocked or failed.
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 100 || status > 599) return undefined;
  const { text, encoding, mimeType, size } = isPlainObject(content) ? content : {};
  const stated = Array.isArray(headers)
    ? (headers as unknown[]).find((one) => isPlainObject(one) && String(one['name']).toLowerCase() === 'content-type')
    : undefined;
  const header = isPlainObject(stated) && typeof stated['value'] === 'string' ? stated['value'] : undefined;
  const mediaType = header ?? (typeof mimeType === 'string' && mimeType !== '' ? mimeType : undefined);
  // Many exporters leave the text out. A body that is certainly empty is no such case.
  const body =
    typeof text === 'string'
      ? Buffer.from(text, encoding === 'base64' ? 'base64' : 'utf8')
      : size === 0
        ? Buffer.alloc(0)
        : undefined;
  return { status, mediaType, body };
}

async function* lineEntries(chunks: AsyncIterable<Buffer>, kind: CaptureKind): AsyncGenerator<Entry> {
  for await (const line of textLines(chunks, MAX_ENTRY_BYTES)) {
    if (!('text' in line)) yield { unreadable: 'too large' };
    else if (line.text.trim() === '') yield undefined;
    else yield kind === 'json-lines' ? jsonEntry(parsed(line.text)) : logEntry(line.text);
  }
}

/** The request line and the status in the common and combined log formats. */
const LOG_LINE = /"([A-Z]{3,20}) (\/[^\s"]{0,8000}|https?:\/\/[^\s"]{1,8000}) HTTP\/\d(?:\.\d)?" (\d{3})(?:\s|$)/;

function logEntry(line: string): Entry {
  const [, method, target = '', status] = LOG_LINE.exec(line.slice(0, 20_000)) ?? [];
  const path = pathOf(target);
  if (method === undefined || path === undefined) return { unreadable: 'not a request' };
  return { method, target: path, response: { status: Number(status), mediaType: undefined, body: undefined } };
}

/** The names under which logs have the parts of an exchange, in the order in which they are looked for. */
const NAMES = {
  method: ['method', 'request_method', 'http_method', 'verb'],
  target: ['target', 'url', 'uri', 'request_uri', 'path', 'request'],
  status: ['status', 'status_code', 'statusCode'],
  mediaType: ['contentType', 'content_type', 'mediaType', 'mimeType'],
  body: ['body', 'responseBody', 'response_body'],
} as const;

function jsonEntry(entry: PlainObject | undefined): Entry {
  const inner = entry === undefined ? [] : [entry, entry['request'], entry['req'], entry['response'], entry['res']];
  const objects = inner.filter(isPlainObject);
  const find = (part: keyof typeof NAMES): unknown => {
    for (const name of NAMES[part])
      for (const object of objects)
        if (Object.hasOwn(object, name) && !isPlainObject(object[name])) return object[name];
    // A body is the only part that can be an object.
    return undefined;
  };
  const [method, url, status, mediaType] = [find('method'), find('target'), find('status'), find('mediaType')];
  const [, verb, address] = typeof url === 'string' ? (/^([A-Z]{3,20}) (\S+)(?: HTTP\/\S+)?$/.exec(url) ?? []) : [];
  const target = typeof url === 'string' ? pathOf(address ?? url) : undefined;
  const word = typeof method === 'string' ? method : verb;
  if (word === undefined || target === undefined) return { unreadable: 'not a request' };
  const number = typeof status === 'string' ? Number(status) : status;
  const isStatus = typeof number === 'number' && Number.isInteger(number) && number >= 100 && number <= 599;
  const body = bodyOf(objects);
  return {
    method: word.toUpperCase(),
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
  // A space or a control character cannot be sent.
  return path === undefined || /[^\x21-\x7e]/.test(path) ? undefined : (path.split('#', 1)[0] ?? path);
}

function ofUrl(address: string): string | undefined {
  const [, path] = /^https?:\/\/[^/?#\s]+([/?#].*)?$/i.exec(address) ?? [];
  if (!/^https?:\/\//i.test(address)) return undefined;
  return path === undefined ? '/' : path.startsWith('/') ? path : `/${path}`;
}

function belowPrefix(target: string, apiPath: string): string {
  const at = target.split('?', 1)[0]?.indexOf(apiPath) ?? -1;
  return at > 0 ? target.slice(at) : target;
}
