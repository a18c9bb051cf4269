import { isUtf8 } from 'node:buffer';

/** The limits on a JSON text, which are checked before the text is parsed. */
export interface JsonLimits {
  /** The maximum nesting depth of objects and arrays. */
  readonly depth: number;
  /**
   * The maximum number of values: members of objects, elements of arrays, and the objects and arrays themselves. Every
   * 64 bytes of a number or white space count as another value. All strings together may contain up to 16 escapes per
   * allowed value.
   */
  readonly values: number;
}

/** The limit that a JSON text exceeds. `escapes` is derived from the limit on values. */
export type JsonExcess = keyof JsonLimits | 'escapes';

/**
 * The default limits. They admit the largest documented pages: 5,000 comments in the array of a node's comments, and
 * 100 users who belong to 400 groups each. A test counts the values of these pages.
 */
export const DEFAULT_JSON_LIMITS: JsonLimits = { depth: 64, values: 250_000 };

/**
 * Describes an exceeded limit to the sender: what was exceeded, the limit's value and its configuration key. `what`
 * names the input, for example `The request body`. `keyPrefix` is the part of the key before `maxJsonValues`.
 */
export function describeExcess(what: string, limit: JsonExcess, limits: JsonLimits, keyPrefix: string): string {
  if (limit === 'depth')
    return `${what} is nested deeper than ${limits.depth} levels, which is the limit of ${keyPrefix}maxJsonDepth.`;
  const setBy = `which is the limit of ${keyPrefix}maxJsonValues`;
  if (limit === 'escapes')
    return `${what} has more than ${limits.values * ESCAPES_PER_VALUE} escapes in its strings, ${setBy} (${ESCAPES_PER_VALUE} escapes per value).`;
  return `${what} has more than ${limits.values} values, ${setBy}. Every 64 bytes of a number or white space count as a value.`;
}

/** The parsed value, or the reason why there is none. `malformed` means that the input is not valid JSON (RFC 8259). */
type BoundedJson =
  | {
      readonly state: 'parsed';
      readonly value: unknown;
      /** The total number of members in all objects. A repeated name counts each time. */ readonly members: number;
    }
  | { readonly state: 'malformed' }
  | { readonly state: 'excess'; readonly limit: JsonExcess };

/** Returns the parsed value, or undefined if there is none. */
export const parsedValue = (parsed: BoundedJson): unknown => (parsed.state === 'parsed' ? parsed.value : undefined);

const MALFORMED = { state: 'malformed' } as const;

/**
 * Parses an untrusted JSON text. Deeply nested values and large numbers of values take time and stack space to parse,
 * so the nesting depth and the number of values are first determined from the bytes. A byte order mark is ignored.
 */
export function parseBounded(bytes: Buffer, limits: JsonLimits): BoundedJson {
  // JSON is UTF-8 (RFC 8259 §8.1). The decoder would have to replace any invalid bytes, which would make decoding ten
  // times slower.
  if (!mayBeJson(bytes) || !isUtf8(bytes)) return MALFORMED;
  const counted = countJson(bytes, limits);
  if (typeof counted === 'string') return { state: 'excess', limit: counted };
  try {
    const text = bytes.toString('utf8', hasByteOrderMark(bytes) ? 3 : 0);
    return { state: 'parsed', value: JSON.parse(text) as unknown, members: counted };
  } catch {
    return MALFORMED;
  }
}

const hasByteOrderMark = (bytes: Buffer) => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

/** The bytes with which a JSON text can begin: white space, or the first byte of a value. */
const BEGINNINGS = new Set(Buffer.from(' \t\r\n{["-0123456789tfn'));

/**
 * Returns false if the first byte shows that a text is not JSON, such as a page of HTML, so that the rest need not be
 * read. An empty text is not JSON, either.
 */
const mayBeJson = (bytes: Buffer) => BEGINNINGS.has(bytes[hasByteOrderMark(bytes) ? 3 : 0] ?? 0);

/** Returns the limit that a JSON text exceeds, or undefined if it is within all limits. */
export function exceededLimit(bytes: Buffer, limits: JsonLimits): JsonExcess | undefined {
  const counted = countJson(bytes, limits);
  return typeof counted === 'string' ? counted : undefined;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The role that each byte has outside strings. 0 means that the byte has no role. */
const KIND = new Uint8Array(256);
const [STRING, OPEN, CLOSE, COMMA, COLON] = [1, 2, 3, 4, 5] as const;
KIND[QUOTE] = STRING;
for (const open of Buffer.from('{[')) KIND[open] = OPEN;
for (const close of Buffer.from('}]')) KIND[close] = CLOSE;
KIND[0x2c] = COMMA;
KIND[0x3a] = COLON;

/** Long numbers and long runs of white space take longer to parse, so every 64 bytes of them count as one value. */
const BARE_SHIFT = 6;

/**
 * The maximum number of escapes for each allowed value. Escapes are limited because parsing one takes much longer than
 * parsing a plain character.
 */
export const ESCAPES_PER_VALUE = 16;

/**
 * Counts members, and stops as soon as a limit is exceeded. If the text is malformed, the count is correct up to the
 * first error.
 */
function countJson(bytes: Buffer, { depth: maxDepth, values: maxValues }: JsonLimits): number | JsonExcess {
  const { length } = bytes;
  let depth = 0;
  let values = 1;
  let members = 0;
  // The position at which the number or white space before the next structural byte begins.
  let bareFrom = 0;
  const escapes = { left: maxValues * ESCAPES_PER_VALUE };
  // The position at which a number or white space would exceed the limit on values. The position is recalculated only
  // when it is reached.
  const farthest = () => Math.min(length, bareFrom + (maxValues - values + 1) * 2 ** BARE_SHIFT);
  let end = farthest();
  for (let at = 0; at < end || at < (end = farthest()); at += 1) {
    const kind = KIND[bytes[at] as number];
    if (kind === 0) continue;
    values += (at - bareFrom) >>> BARE_SHIFT;
    if (kind === STRING) {
      at = closingQuote(bytes, at + 1, escapes);
      if (escapes.left < 0) return 'escapes';
    } else if (kind === COLON) members += 1;
    else if (kind === CLOSE) depth -= 1;
    else {
      values += 1;
      if (values > maxValues) return 'values';
      if (kind === OPEN) depth += 1;
      if (depth > maxDepth) return 'depth';
    }
    bareFrom = at + 1;
  }
  values += Math.max(0, length - bareFrom) >>> BARE_SHIFT;
  return values > maxValues ? 'values' : members;
}

/**
 * The number of bytes that are read one by one from a string before `indexOf` searches the rest. Most names are shorter
 * than this.
 */
const NEAR = 24;

/**
 * Returns the index of the closing quote. Returns the length of the text if the quote is missing or if there are too
 * many escapes. Escapes more than `NEAR` bytes apart are not counted, because parsing them is fast.
 */
function closingQuote(bytes: Buffer, from: number, escapes: { left: number }): number {
  const { length } = bytes;
  let at = from;
  for (;;) {
    let near = at + NEAR;
    while (at < near && at < length) {
      const byte = bytes[at];
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) {
        escapes.left -= 1;
        if (escapes.left < 0) return length;
        near = (at += 2) + NEAR;
      } else at += 1;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) return length;
    // The byte before `at` is never a backslash, so the search for the first one ends.
    let backslashes = quote;
    while (bytes[backslashes - 1] === BACKSLASH) backslashes -= 1;
    if ((quote - backslashes) % 2 === 0) return quote;
    at = quote + 1;
  }
}

/**
 * Counts the members of all objects in a parsed value, whose depth must be limited. Repeated names in an object are
 * counted once.
 */
export function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) {
    for (const element of value as readonly unknown[]) members += countMembers(element);
    return members;
  }
  for (const member of Object.values(value)) members += 1 + countMembers(member);
  return members;
}
