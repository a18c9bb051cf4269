// Checks the values that rules apply to.

import {
  ANYTHING,
  ARRAY,
  BOUNDED_NUMBER,
  CHECKED_STRING,
  EVENT_ARRAY,
  EVENT_COUNT,
  EVENT_END,
  EVENT_FALSE,
  EVENT_JSON,
  EVENT_NULL,
  EVENT_NUMBER,
  EVENT_OBJECT,
  EVENT_STRING,
  EVENT_TRUE,
  EXPECTED_STRING,
  FALSE,
  FRACTION,
  INDICES,
  INTEGER,
  NODE_ITEMS,
  NODE_KINDS,
  NODE_LEVEL,
  NODE_MAXIMUM,
  NODE_MAX_ITEMS,
  NODE_MINIMUM,
  NODE_MIN_ITEMS,
  NODE_RECORDED,
  NODE_SLOT,
  NODE_TABLE,
  NULL,
  OBJECT,
  SHORT_NUMBERS_FIT,
  STRING,
  TRUE,
} from '../../../src/engine/scanner/table-layout';
import { recordDeparture, scans, writeEvent, writeNumber, writeText } from './events';
import { checkMembers } from './members';
import { endOfNumber, integerAt, isSurelyFinite, isInteger, MINUS, MOST_DIGITS } from './number';
import {
  countValues,
  endOfFalse,
  endOfNull,
  endOfTrue,
  lastCount,
  maxDepth,
  skipArray,
  skipObject,
  skipValue,
} from './open';
import { checkString, endOfString, escaped, skipSpace } from './text';

/**
 * Checks the value at `at` against the rules of a node. Returns the position after the value, or 0 if the value
 * might be invalid. `depth` is the number of objects and arrays around the value.
 */
export function checkValue(node: u32, at: u32, depth: u32): u32 {
  const kinds = load<u32>(node, NODE_KINDS);
  const slot = load<u32>(node, NODE_SLOT);
  if ((kinds & ANYTHING) != 0 && slot == 0) return skipValue(at, depth);
  switch (load<u8>(at)) {
    case 0x22:
      return (kinds & STRING) == 0 ? 0 : checkText(node, kinds, slot, at + 1);
    case 0x7b:
      return (kinds & OBJECT) == 0 ? 0 : checkObject(node, slot, at, depth);
    case 0x5b:
      return (kinds & ARRAY) == 0 ? 0 : checkArray(node, slot, at, depth);
    case 0x74:
      return checkLiteral(kinds & TRUE, slot, EVENT_TRUE, endOfTrue(at));
    case 0x66:
      return checkLiteral(kinds & FALSE, slot, EVENT_FALSE, endOfFalse(at));
    case 0x6e:
      return checkLiteral(kinds & NULL, slot, EVENT_NULL, endOfNull(at));
    default:
      return checkNumber(node, kinds, slot, at);
  }
}

function checkLiteral(allowed: u32, slot: u32, event: u32, end: u32): u32 {
  if (allowed == 0 || (slot != 0 && !writeEvent(slot, event))) return 0;
  return end;
}

function checkText(node: u32, kinds: u32, slot: u32, from: u32): u32 {
  const end = endOfString(from);
  if (end == 0) return 0;
  if ((kinds & CHECKED_STRING) != 0 && !checkString(node, from, end) && !isUnexpectedOnly(node, kinds, from, end))
    return 0;
  if (slot == 0) return end + 1;
  const isWritten = escaped ? writeText(slot, EVENT_JSON, from - 1, end + 1) : writeText(slot, EVENT_STRING, from, end);
  return isWritten ? end + 1 : 0;
}

/**
 * Records a string that does not have the expected form. Returns false if the form is not only expected but required,
 * or if the string contains escapes, which are not decoded here.
 */
function isUnexpectedOnly(node: u32, kinds: u32, from: u32, end: u32): bool {
  if ((kinds & EXPECTED_STRING) == 0 || escaped) return false;
  if (load<u32>(node, NODE_RECORDED) == scans) return true;
  store<u32>(node, scans, NODE_RECORDED);
  return recordDeparture(node, from, end);
}

/**
 * Checks a number. Only `JSON.parse` can determine the value of a number with a fraction or an exponent, so if the
 * value matters, the body must be parsed.
 */
function checkNumber(node: u32, kinds: u32, slot: u32, at: u32): u32 {
  const end = endOfNumber(at);
  if (end == 0) return 0;
  if (!isInteger) {
    if ((kinds & FRACTION) == 0 || (kinds & BOUNDED_NUMBER) != 0 || !isSurelyFinite) return 0;
    return slot == 0 || writeText(slot, EVENT_JSON, at, end) ? end : 0;
  }
  if ((kinds & INTEGER) == 0) return 0;
  const isNegative = load<u8>(at) == MINUS;
  const digits = end - at - <u32>isNegative;
  if (digits > MOST_DIGITS) return 0;
  const isShort = !isNegative && digits < MOST_DIGITS;
  if ((kinds & BOUNDED_NUMBER) != 0 && !(isShort && (kinds & SHORT_NUMBERS_FIT) != 0)) {
    const value = integerAt(at, end);
    if (value < load<f64>(node, NODE_MINIMUM) || value > load<f64>(node, NODE_MAXIMUM)) return 0;
  }
  return slot == 0 || writeNumber(slot, EVENT_NUMBER, integerAt(at, end)) ? end : 0;
}

function checkArray(node: u32, slot: u32, at: u32, depth: u32): u32 {
  const items = load<u32>(node, NODE_ITEMS);
  if (items == 0) {
    at = skipArray(at, depth);
    return at != 0 && hasItems(node, lastCount) && (slot == 0 || writeNumber(slot, EVENT_COUNT, lastCount)) ? at : 0;
  }
  if (depth >= maxDepth) return 0;
  const isShown = slot != 0 && load<u32>(items, NODE_SLOT) != 0;
  if (isShown && !writeEvent(slot, EVENT_ARRAY)) return 0;
  const index = INDICES + (load<u32>(node, NODE_LEVEL) << 2);
  let count: u32 = 0;
  at = skipSpace(at + 1);
  if (load<u8>(at) != 0x5d) {
    for (;;) {
      store<u32>(index, count);
      at = checkValue(items, at, depth + 1);
      if (at == 0) return 0;
      count++;
      at = skipSpace(at);
      const byte = load<u8>(at);
      if (byte == 0x5d) break;
      if (byte != 0x2c) return 0;
      at = skipSpace(at + 1);
    }
  }
  countValues(count);
  if (!hasItems(node, count)) return 0;
  if (isShown) return writeEvent(slot, EVENT_END) ? at + 1 : 0;
  return slot == 0 || writeNumber(slot, EVENT_COUNT, count) ? at + 1 : 0;
}

function hasItems(node: u32, count: u32): bool {
  return count >= load<u32>(node, NODE_MIN_ITEMS) && count <= load<u32>(node, NODE_MAX_ITEMS);
}

function checkObject(node: u32, slot: u32, at: u32, depth: u32): u32 {
  if (slot != 0 && !writeEvent(slot, EVENT_OBJECT)) return 0;
  const table = load<u32>(node, NODE_TABLE);
  at = table == 0 ? skipObject(at, depth) : checkMembers(table, at, depth);
  return at != 0 && (slot == 0 || writeEvent(slot, EVENT_END)) ? at : 0;
}
