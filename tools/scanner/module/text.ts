// Scans strings and white space, and compares bytes.

import {
  NODE_MAX_LENGTH,
  NODE_MIN_LENGTH,
  NODE_PATTERN,
  NODE_WORDS,
  WORDS_FIRST,
} from '../../../src/engine/scanner/table-layout';

const QUOTE: u8 = 0x22;
const BACKSLASH: u8 = 0x5c;
const COLON: u8 = 0x3a;
const SLASH: u8 = 0x2f;
const SPACE: u8 = 0x20;
const TAB: u8 = 0x09;
const LINE_FEED: u8 = 0x0a;
const CARRIAGE_RETURN: u8 = 0x0d;

/** True if the last string that `endOfString` read contains an escape. */
export let escaped: bool = false;

/** True if a string in the body may contain bytes that are not ASCII. */
export let beyondAscii: bool = false;

/** True if a string in the body may contain a colon and a slash (plain or escaped), as absolute addresses do. */
export let hasAddress: bool = false;

/** Clears all information about the strings of the previous body. */
export function beginText(): void {
  beyondAscii = false;
  hasAddress = false;
}

/** Returns the position of the first byte that is not white space (RFC 8259 §2). */
export function skipSpace(at: u32): u32 {
  return load<u8>(at) > 0x20 ? at : endOfSpace(at);
}

/**
 * Does the same as `skipSpace`, but reads 16 bytes at a time, because white space is usually a line break followed by
 * indentation.
 */
function endOfSpace(at: u32): u32 {
  // This loop ends, at the latest, at the zero bytes that follow the body.
  while (true) {
    const bytes = v128.load(at);
    const blanks = v128.or(i8x16.eq(bytes, i8x16.splat(SPACE)), i8x16.eq(bytes, i8x16.splat(TAB)));
    const breaks = v128.or(i8x16.eq(bytes, i8x16.splat(LINE_FEED)), i8x16.eq(bytes, i8x16.splat(CARRIAGE_RETURN)));
    const others = ~i8x16.bitmask(v128.or(blanks, breaks)) & 0xffff;
    if (others != 0) return at + ctz(others);
    at += 16;
  }
  return 0;
}

/** Returns the position of the closing quote of the string that begins at `at`, or 0 if the string is malformed. */
export function endOfString(at: u32): u32 {
  escaped = false;
  let all = i8x16.splat(0);
  let addresses = i8x16.splat(0);
  // This loop ends, at the latest, at the zero bytes that follow the body, because zero is a control character.
  while (true) {
    const bytes = v128.load(at);
    // Inverting this bit moves the quote next to the control characters, so one comparison finds both.
    const ends = i8x16.le_u(v128.xor(bytes, i8x16.splat(2)), i8x16.splat(0x20));
    const special = i8x16.bitmask(v128.or(ends, i8x16.eq(bytes, i8x16.splat(BACKSLASH))));
    // The 16 bytes may extend past the end of the string. At worst, the body is parsed unnecessarily.
    all = v128.or(all, bytes);
    const colons = i8x16.eq(bytes, i8x16.splat(COLON));
    addresses = v128.or(addresses, v128.and(colons, i8x16.eq(v128.load(at, 1), i8x16.splat(SLASH))));
    if (special == 0) {
      at += 16;
      continue;
    }
    at += ctz(special);
    const byte = load<u8>(at);
    if (byte == BACKSLASH) {
      if (load<u8>(at - 1) == COLON) hasAddress = true;
      at = endOfEscape(at + 1);
      if (at == 0) return 0;
      escaped = true;
      continue;
    }
    if (i8x16.bitmask(all) != 0) beyondAscii = true;
    if (v128.any_true(addresses)) hasAddress = true;
    return byte == QUOTE ? at : 0;
  }
  return 0;
}

/** Returns the position after the escape whose backslash precedes `at`, or 0 if the escape is malformed. */
function endOfEscape(at: u32): u32 {
  switch (load<u8>(at)) {
    case 0x22: // "
    case 0x5c: // \
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return at + 1;
    case 0x75: // u
      for (let digit: u32 = 1; digit <= 4; digit++) if (!isHexDigit(load<u8>(at + digit))) return 0;
      return at + 5;
    default:
      return 0;
  }
}

function isHexDigit(byte: u8): bool {
  const lower: u8 = byte | 0x20;
  return (byte >= 0x30 && byte <= 0x39) || (lower >= 0x61 && lower <= 0x66);
}

/** Returns whether the `length` bytes at two addresses are equal. */
export function sameBytes(one: u32, other: u32, length: u32): bool {
  let at: u32 = 0;
  while (at + 8 <= length) {
    if (load<u64>(one + at) != load<u64>(other + at)) return false;
    at += 8;
  }
  while (at < length) {
    if (load<u8>(one + at) != load<u8>(other + at)) return false;
    at++;
  }
  return true;
}

/** Checks the string between two positions against a node's pattern, words and length limits. */
export function checkString(node: u32, from: u32, to: u32): bool {
  const words = load<u32>(node, NODE_WORDS);
  if (words != 0) return isOneOf(words, from, to - from);
  const pattern = load<u32>(node, NODE_PATTERN);
  if (pattern != 0 && !matches(pattern, from, to)) return false;
  return hasLength(from, to, load<u32>(node, NODE_MIN_LENGTH), load<u32>(node, NODE_MAX_LENGTH));
}

function matches(pattern: u32, from: u32, to: u32): bool {
  let state: u32 = 1;
  for (let at = from; at < to; at++) {
    state = load<u8>(pattern + (state << 8) + load<u8>(at));
    if (state == 0) return false;
  }
  return load<u8>(pattern + (state << 8)) != 0;
}

/** Returns whether the string is one of the words. Bytes are compared, so a string with escapes never matches. */
function isOneOf(words: u32, from: u32, length: u32): bool {
  let word = words + WORDS_FIRST;
  for (let left = load<u32>(words); left > 0; left--) {
    const size = load<u32>(word);
    if (size == length && sameBytes(word + 4, from, length)) return true;
    word += 4 + ((size + 3) & ~3);
  }
  return false;
}

/**
 * Checks the number of characters. A string never has more characters than bytes, so characters are counted only if the
 * number of bytes does not settle the result.
 */
function hasLength(from: u32, to: u32, min: u32, max: u32): bool {
  if (min == 0 && to - from <= max) return true;
  if (escaped) return false;
  let characters: u32 = 0;
  // UTF-8 continuation bytes do not begin a character.
  for (let at = from; at < to; at++) if ((load<u8>(at) & 0xc0) != 0x80) characters++;
  return characters >= min && characters <= max;
}
