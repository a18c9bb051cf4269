/** A body without the redacted members, and the names of those members. */
interface Redacted {
  readonly body: Buffer;
  /** The distinct names, in order of first occurrence. */
  readonly removed: readonly string[];
}

/**
 * Removes the members with the given names from a JSON document, at any depth. All other bytes stay unchanged,
 * including the digits of numbers and the escapes in strings. Returns the same buffer if there are no such members.
 * Returns undefined if the input is not JSON, in which case the caller must not send the body.
 *
 * The names must be ASCII. The time is proportional to the size of the body, and the memory is at most a fraction of
 * it, so no limit on depth or on the number of values is needed.
 */
export function redactMembers(body: Buffer, names: ReadonlySet<string>): Redacted | undefined {
  const found = findMembers(body, names);
  if (found === undefined) return undefined;
  if (found.cuts.length === 0) return { body, removed: [] };
  const remaining = Buffer.allocUnsafe(body.length);
  let length = 0;
  let from = 0;
  for (const cut of found.cuts) {
    length += body.copy(remaining, length, from, cut.from);
    from = cut.to;
  }
  length += body.copy(remaining, length, from);
  return { body: remaining.subarray(0, length), removed: [...found.names] };
}

/** A range of bytes to remove, consisting of a member and an adjacent comma. */
interface Cut {
  readonly from: number;
  readonly to: number;
}

interface FoundMembers {
  /** The ranges of bytes to remove, in ascending order. They do not overlap. */
  readonly cuts: readonly Cut[];
  readonly names: ReadonlySet<string>;
}

/**
 * The open objects and arrays, from the outermost to the innermost. Each takes one byte, because an untrusted document
 * can be nested as deeply as it is long.
 */
interface Frames {
  /** The number of open objects and arrays. */
  depth(): number;
  open(isObject: boolean): void;
  close(): void;
  /** Returns whether the innermost is an object. */
  isObject(): boolean;
  /**
   * Returns whether an earlier member of the innermost object is preserved. If so, later members are removed together
   * with the comma before them.
   */
  keeps(): boolean;
  keep(): void;
}

const OBJECT = 1;
const KEEPS = 2;

function createFrames(): Frames {
  let bits = Buffer.alloc(256);
  let depth = 0;
  const top = () => bits[depth - 1] as number;
  return {
    depth: () => depth,
    open(isObject) {
      if (depth === bits.length) bits = Buffer.concat([bits], bits.length * 2);
      bits[depth] = isObject ? OBJECT : 0;
      depth += 1;
    },
    close() {
      depth -= 1;
    },
    isObject: () => (top() & OBJECT) !== 0,
    keeps: () => (top() & KEEPS) !== 0,
    keep() {
      bits[depth - 1] = top() | KEEPS;
    },
  };
}

/**
 * Finds members by name in a single pass over the bytes of a JSON document, without recursion. Returns undefined if the
 * document is malformed.
 */
function findMembers(bytes: Buffer, names: ReadonlySet<string>): FoundMembers | undefined {
  const nameOf = createNameMatcher(names);
  const cuts: Cut[] = [];
  const found = new Set<string>();
  const frames = createFrames();
  // The depth of the object whose current member is being removed, along with all values inside that member. 0 if no
  // member is being removed.
  let cutting = 0;
  // The index of the first byte of the member that is being removed.
  let cutFrom = 0;
  let at = skipSpace(bytes, afterByteOrderMark(bytes));

  /**
   * Reads a key and the colon after it. `commaAt` is the index of the comma before the key, if there is one. Returns
   * false if the key or the colon is malformed.
   */
  const readKey = (commaAt: number): boolean => {
    if (bytes[at] !== 0x22) return false;
    const end = endOfString(bytes, at);
    if (end === MALFORMED) return false;
    const name = cutting === 0 ? nameOf(bytes, at + 1, end - 1) : undefined;
    if (name === undefined) frames.keep();
    else {
      found.add(name);
      cutFrom = frames.keeps() ? commaAt : at;
      cutting = frames.depth();
    }
    at = skipSpace(bytes, end);
    if (bytes[at] !== 0x3a) return false;
    at = skipSpace(bytes, at + 1);
    return true;
  };

  /**
   * Moves from the end of a value to the start of the next value. Returns whether there is a next value, or undefined
   * if the document is malformed.
   */
  const afterValue = (): boolean | undefined => {
    for (;;) {
      const end = at;
      at = skipSpace(bytes, at);
      if (frames.depth() === 0) return at === bytes.length ? false : undefined;
      const isComma = bytes[at] === 0x2c;
      const commaAt = at;
      if (isComma) at = skipSpace(bytes, at + 1);
      else if (bytes[at] !== (frames.isObject() ? 0x7d : 0x5d)) return undefined;
      if (cutting === frames.depth()) {
        // If no earlier member is preserved, the member is removed together with the comma after it.
        cuts.push({ from: cutFrom, to: frames.keeps() ? end : at });
        cutting = 0;
      }
      if (isComma) return !frames.isObject() || readKey(commaAt) ? true : undefined;
      at += 1;
      frames.close();
    }
  };

  for (;;) {
    const byte = bytes[at];
    let closed = true;
    if (byte === 0x7b || byte === 0x5b) {
      const isObject = byte === 0x7b;
      at = skipSpace(bytes, at + 1);
      closed = bytes[at] === (isObject ? 0x7d : 0x5d);
      if (closed) at += 1;
      else {
        frames.open(isObject);
        if (isObject && !readKey(at)) return undefined;
      }
    } else {
      at = byte === 0x22 ? endOfString(bytes, at) : endOfScalar(bytes, at);
      if (at === MALFORMED) return undefined;
    }
    if (closed) {
      const more = afterValue();
      if (more === undefined) return undefined;
      if (!more) return { cuts, names: found };
    }
  }
}

function afterByteOrderMark(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The result of a read function for bytes that are not JSON (RFC 8259). */
const MALFORMED = -1;

/** Returns the index of the first byte at or after `at` that is not white space. */
function skipSpace(bytes: Uint8Array, at: number): number {
  let end = at;
  for (;;) {
    const byte = bytes[end];
    if (byte !== SPACE && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return end;
    end += 1;
  }
}

/** Returns the index after the string whose opening quote is at `at`. Non-ASCII bytes are not validated. */
function endOfString(bytes: Uint8Array, at: number): number {
  const length = bytes.length;
  let end = at + 1;
  // Most bytes are inside strings, so this loop must be especially fast. It never reads past the end of the array,
  // because a single out-of-bounds read would slow down all later reads.
  while (end < length) {
    const byte = bytes[end] as number;
    if (PLAIN[byte] === 1) end += 1;
    else if (byte === QUOTE) return end + 1;
    else if (byte === BACKSLASH) {
      end = endOfEscape(bytes, end);
      if (end === MALFORMED) return MALFORMED;
    } else return MALFORMED;
  }
  return MALFORMED;
}

/** Contains 1 for each byte that needs no escape in a string. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= SPACE && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);

function endOfEscape(bytes: Uint8Array, at: number): number {
  const byte = bytes[at + 1];
  if (byte === undefined) return MALFORMED;
  if (SIMPLE_ESCAPE[byte] === 1) return at + 2;
  if (byte !== 0x75) return MALFORMED;
  for (let digit = at + 2; digit < at + 6; digit += 1) if (!isHexDigit(bytes[digit])) return MALFORMED;
  return at + 6;
}

/** Contains 1 for each byte that can follow a backslash in a two-byte escape. */
const SIMPLE_ESCAPE = Uint8Array.from({ length: 256 }, (_, byte) => (Buffer.from('"\\/bfnrt').includes(byte) ? 1 : 0));

function isHexDigit(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

/** Returns the index after the number or literal (`true`, `false`, `null`) that begins at `at`. */
function endOfScalar(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (byte === 0x74) return endOfWord(bytes, at, TRUE);
  if (byte === 0x66) return endOfWord(bytes, at, FALSE);
  if (byte === 0x6e) return endOfWord(bytes, at, NULL);
  return endOfNumber(bytes, at);
}

const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const NULL = Buffer.from('null');

function endOfWord(bytes: Uint8Array, at: number, word: Uint8Array): number {
  for (let index = 0; index < word.length; index += 1) if (bytes[at + index] !== word[index]) return MALFORMED;
  return at + word.length;
}

function endOfNumber(bytes: Uint8Array, at: number): number {
  const whole = bytes[at] === 0x2d ? at + 1 : at;
  // Leading zeros, as in `01`, are not allowed in a number.
  let end = bytes[whole] === 0x30 ? whole + 1 : endOfDigits(bytes, whole);
  if (end !== MALFORMED && bytes[end] === 0x2e) end = endOfDigits(bytes, end + 1);
  if (end !== MALFORMED && (bytes[end] === 0x65 || bytes[end] === 0x45)) {
    const signed = bytes[end + 1] === 0x2b || bytes[end + 1] === 0x2d;
    end = endOfDigits(bytes, signed ? end + 2 : end + 1);
  }
  return end;
}

function endOfDigits(bytes: Uint8Array, at: number): number {
  let end = at;
  while (isDigit(bytes[end])) end += 1;
  return end === at ? MALFORMED : end;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/** Returns the name that matches a JSON key, or undefined if there is none. */
type NameMatcher = (bytes: Buffer, start: number, end: number) => string | undefined;

/**
 * Creates a matcher for the given ASCII names. The matcher receives the position of the bytes between a key's quotes.
 * These bytes may contain escapes, which `endOfString` has checked.
 */
function createNameMatcher(names: ReadonlySet<string>): NameMatcher {
  const wanted = [...names].map((name) => ({ name, bytes: Buffer.from(name) }));
  const shortest = Math.min(...wanted.map(({ bytes }) => bytes.length));
  return (bytes, start, end) => {
    if (end - start < shortest) return undefined;
    for (const { name, bytes: plain } of wanted) if (spells(bytes, start, end, plain)) return name;
    return undefined;
  };
}

/** Returns whether a key, once its escapes are decoded, equals a name. Stops at the first character that differs. */
function spells(bytes: Buffer, start: number, end: number, name: Buffer): boolean {
  let at = start;
  for (const expected of name) {
    const byte = bytes[at];
    if (at >= end || byte === undefined) return false;
    if (byte !== BACKSLASH) {
      if (byte !== expected) return false;
      at += 1;
    } else if (bytes[at + 1] === 0x75) {
      if (Number.parseInt(bytes.toString('latin1', at + 2, at + 6), 16) !== expected) return false;
      at += 6;
    } else {
      // The short escapes stand for punctuation and control characters, which names do not contain.
      return false;
    }
  }
  return at === end;
}
