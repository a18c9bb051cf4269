// Numbers (RFC 8259, section 6).

/** True if the number that `endOfNumber` read last is an integer without fraction and exponent, of at most 19 digits. */
export let plain: bool = false;

/** The value of a plain number, rounded as `JSON.parse` rounds it. */
export let value: f64 = 0;

/** True if the number is certainly finite as a double. */
export let finite: bool = false;

/** An integer with more digits may not fit into 64 bits. */
const MOST_DIGITS: u32 = 19;
/** With fewer digits before the point and an exponent below 100, a number is far below the largest double. */
const SAFE_DIGITS: u32 = 100;

const ZERO: u8 = 0x30;
const POINT: u8 = 0x2e;
const PLUS: u8 = 0x2b;
const MINUS: u8 = 0x2d;

function isDigit(byte: u8): bool {
  return byte >= ZERO && byte <= 0x39;
}

function skipDigits(at: u32): u32 {
  while (isDigit(load<u8>(at))) at++;
  return at;
}

/** Returns the position behind the number at `at`, or 0 if there is no well-formed number. */
export function endOfNumber(at: u32): u32 {
  const negative = load<u8>(at) == MINUS;
  if (negative) at++;
  const first = at;
  let magnitude: u64 = 0;
  let byte = load<u8>(at);
  if (byte == ZERO) byte = load<u8>(++at);
  else {
    if (!isDigit(byte)) return 0;
    do {
      magnitude = magnitude * 10 + (byte - ZERO);
      byte = load<u8>(++at);
    } while (isDigit(byte));
  }
  const digits = at - first;
  const isInteger = byte != POINT && (byte | 0x20) != 0x65;
  plain = isInteger && digits <= MOST_DIGITS;
  finite = digits <= SAFE_DIGITS;
  if (plain) value = negative ? -(<f64>magnitude) : <f64>magnitude;
  return isInteger ? at : endOfFraction(at);
}

/** Returns the position behind a fraction and an exponent, or 0. */
function endOfFraction(at: u32): u32 {
  if (load<u8>(at) == POINT) {
    if (!isDigit(load<u8>(++at))) return 0;
    at = skipDigits(at);
  }
  if ((load<u8>(at) | 0x20) == 0x65) {
    const sign = load<u8>(++at);
    if (sign == PLUS || sign == MINUS) at++;
    if (!isDigit(load<u8>(at))) return 0;
    const first = at;
    at = skipDigits(at);
    if (at - first > 2) finite = false;
  }
  return at;
}
