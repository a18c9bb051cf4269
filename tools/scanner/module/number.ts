// Scans numbers (RFC 8259 §6).

/** True if the last number that `endOfNumber` read has no fraction and no exponent. */
export let isInteger: bool = false;

/** True if the last number that `endOfNumber` read is certain to be finite as a double. */
export let isSurelyFinite: bool = false;

/** An integer with no more digits than this always fits into 64 bits. */
export const MOST_DIGITS: u32 = 19;
/**
 * A number with fewer digits than this before the decimal point, and with an exponent below 100, is far below the
 * largest double.
 */
const SAFE_DIGITS: u32 = 100;

const ZERO: u8 = 0x30;
const POINT: u8 = 0x2e;
const PLUS: u8 = 0x2b;
/** The minus sign. */
export const MINUS: u8 = 0x2d;

/** Returns the number of consecutive digits, starting at `at`. */
function countDigits(at: u32): u32 {
  let count: u32 = 0;
  // The zero bytes that follow the body end this loop.
  while (true) {
    const digits = i8x16.sub(v128.load(at + count), i8x16.splat(ZERO));
    const others = i8x16.bitmask(i8x16.gt_u(digits, i8x16.splat(9)));
    if (others != 0) return count + ctz(others);
    count += 16;
  }
  return 0;
}

/** Returns the position after the number at `at`, or 0 if the number is malformed. */
export function endOfNumber(at: u32): u32 {
  if (load<u8>(at) == MINUS) at++;
  const digits = countDigits(at);
  if (digits == 0 || (digits > 1 && load<u8>(at) == ZERO)) return 0;
  at += digits;
  const byte = load<u8>(at);
  isInteger = byte != POINT && (byte | 0x20) != 0x65;
  if (isInteger) return at;
  isSurelyFinite = digits <= SAFE_DIGITS;
  return endOfFraction(at);
}

/** Returns the position after a fraction and an exponent, or 0 if either of them is malformed. */
function endOfFraction(at: u32): u32 {
  if (load<u8>(at) == POINT) {
    const digits = countDigits(++at);
    if (digits == 0) return 0;
    at += digits;
  }
  if ((load<u8>(at) | 0x20) == 0x65) {
    const sign = load<u8>(++at);
    if (sign == PLUS || sign == MINUS) at++;
    const digits = countDigits(at);
    if (digits == 0) return 0;
    if (digits > 2) isSurelyFinite = false;
    at += digits;
  }
  return at;
}

/** Returns the value of an integer with at most `MOST_DIGITS` digits, rounded as `JSON.parse` does. */
export function integerAt(at: u32, end: u32): f64 {
  const isNegative = load<u8>(at) == MINUS;
  let magnitude: u64 = 0;
  for (let digit = isNegative ? at + 1 : at; digit < end; digit++)
    magnitude = magnitude * 10 + (load<u8>(digit) - ZERO);
  return isNegative ? -(<f64>magnitude) : <f64>magnitude;
}
