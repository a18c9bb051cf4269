import type { HeaderPairs } from '../model/header-pairs.ts';
import { contentType, mediaTypeOf } from '../model/header-pairs.ts';
import type { LogPosition } from '../model/change-log.ts';
import type { Freshness } from './cache-options.ts';
import type { Validity } from './may-store.ts';
import { etagOf } from './representation.ts';
import { copyOf, type StoredPage, withoutCookies } from './stored-page.ts';

/** A page shared by gateways, and the position in the log of changes at which its fetch began. */
export interface SharedPage {
  readonly page: StoredPage;
  readonly at: LogPosition;
}

/** The values against which a stored page is checked when it is read. */
interface Expectation {
  /** The hash of the page's cache key. */
  readonly hash: string;
  /** The current time in epoch milliseconds. */
  readonly now: number;
  /** The maximum size of the body in bytes. */
  readonly maxBytes: number;
  /** The longest durations that this gateway would give the page. Longer ones are shortened. */
  readonly longest: Freshness;
}

/**
 * The first bytes of a value, which identify the format and its version. They are followed by the header's length in
 * four bytes, the header as JSON, and the body.
 */
const MARK = Buffer.from('PPg1');
const PREFIX_BYTES = MARK.length + 4;
const MAX_HEADER_BYTES = 512 * 1024;

/** The largest permitted difference between two gateways' clocks, in milliseconds. */
const MAX_SKEW_MS = 2_000;

/** Serializes a page. `hash` is the hash of its cache key. */
export function encodePage({ page, at }: SharedPage, hash: string): Buffer {
  const { body, status: _, ...facts } = page;
  const header = Buffer.from(JSON.stringify({ hash, at, ...facts }));
  const prefix = Buffer.alloc(PREFIX_BYTES);
  MARK.copy(prefix);
  prefix.writeUInt32BE(header.length, MARK.length);
  return Buffer.concat([prefix, header, body]);
}

/**
 * Decodes a page. Returns undefined unless the bytes are a complete, undamaged page with the expected key, because the
 * server may also contain values written by other programs or versions.
 */
export function decodePage(value: Buffer, { hash, now, maxBytes, longest }: Expectation): SharedPage | undefined {
  if (value.length < PREFIX_BYTES || !value.subarray(0, MARK.length).equals(MARK)) return undefined;
  const headerBytes = value.readUInt32BE(MARK.length);
  const bodyStart = PREFIX_BYTES + headerBytes;
  if (headerBytes > MAX_HEADER_BYTES || bodyStart > value.length || value.length - bodyStart > maxBytes)
    return undefined;
  const facts = parse(value.toString('utf8', PREFIX_BYTES, bodyStart));
  if (facts === undefined || facts['hash'] !== hash) return undefined;
  const { at, etag, headers, validity, carriesPrivate, tags, pageCount, filledBy } = facts;
  const times = TIMES.map((name) => facts[name]);
  const isKnown =
    isPosition(at) &&
    times.every((time) => typeof time === 'number' && Number.isFinite(time) && time >= 0) &&
    isHeaders(headers) &&
    Array.isArray(tags) &&
    tags.every((tag) => typeof tag === 'string') &&
    typeof carriesPrivate === 'boolean' &&
    STORABLE.has(validity as Validity) &&
    (pageCount === undefined || (Number.isSafeInteger(pageCount) && (pageCount as number) >= 0)) &&
    (filledBy === undefined || typeof filledBy === 'string');
  if (!isKnown) return undefined;
  const [storedAt, asOf, freshUntilAt, staleUntilAt, errorUntilAt, initialAgeSeconds] = times as Times;
  if (storedAt > now + MAX_SKEW_MS) return undefined;
  const body = copyOf(value.subarray(bodyStart));
  if (etag !== etagOf(body)) return undefined;
  const freshEnd = Math.min(freshUntilAt, Math.min(storedAt, now) + longest.freshSeconds * 1000);
  const page: StoredPage = Object.freeze({
    status: 200,
    headers: Object.freeze(withoutCookies(headers).map(([name, text]) => Object.freeze([name, text] as const))),
    body,
    etag,
    storedAt: Math.min(storedAt, now),
    asOf: Math.min(asOf, storedAt, now),
    freshUntilAt: freshEnd,
    staleUntilAt: Math.min(staleUntilAt, freshEnd + longest.staleWhileRevalidateSeconds * 1000),
    errorUntilAt: Math.min(errorUntilAt, freshEnd + longest.staleIfErrorSeconds * 1000),
    initialAgeSeconds,
    tags: Object.freeze(tags),
    pageCount: pageCount as number | undefined,
    carriesPrivate,
    validity: validity as Validity,
    filledBy,
  });
  return { page, at };
}

const TIMES = ['storedAt', 'asOf', 'freshUntilAt', 'staleUntilAt', 'errorUntilAt', 'initialAgeSeconds'] as const;
type Times = [number, number, number, number, number, number];

/** The possible values of `validity` in a stored page. */
const STORABLE: ReadonlySet<Validity> = new Set(['valid', 'accepted', 'violations', 'off']);

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function isPosition(value: unknown): value is LogPosition {
  if (typeof value !== 'object' || value === null) return false;
  const { lineage, number } = value as Partial<Record<keyof LogPosition, unknown>>;
  return typeof lineage === 'string' && Number.isSafeInteger(number);
}

/** Returns whether a value is a list of headers that Node can send and that declares JSON content. */
function isHeaders(value: unknown): value is HeaderPairs {
  if (!Array.isArray(value) || !value.every(isPair)) return false;
  const type = contentType(value);
  return type !== undefined && mediaTypeOf(type) === 'application/json';
}

function isPair(value: unknown): value is HeaderPairs[number] {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    value.every((text) => typeof text === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(text))
  );
}
