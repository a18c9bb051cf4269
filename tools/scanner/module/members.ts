// Checks the members of the objects that rules apply to.

import {
  DOUBTED,
  EXPECTED,
  KEY_CHAIN,
  KEY_LENGTH,
  KEY_NAME,
  KEY_NEXT,
  KEY_NODE,
  KEY_RECORDED,
  KEY_REQUIRED,
  KEY_STAMP,
  TABLE_BUCKETS,
  TABLE_FIRST,
  TABLE_MASK,
  TABLE_REQUIRED,
  TABLE_UNDOCUMENTED,
} from '../../../src/engine/scanner/table-layout';
import { recordDeparture, recordMember, scans } from './events';
import { countValues, maxDepth, skipValue } from './open';
import { endOfString, escaped, sameBytes, skipSpace } from './text';
import { checkValue } from './value';

/** The number of the last scanned object. Numbers are unique within a process. */
let objects: u64 = 0;

/**
 * Checks the members of the object at `at` against a table. Returns the position after the object, or 0 if the object
 * might be invalid.
 */
export function checkMembers(table: u32, at: u32, depth: u32): u32 {
  if (depth >= maxDepth) return 0;
  const stamp = ++objects;
  let missing = load<u32>(table, TABLE_REQUIRED);
  // The address of the reference to the next expected member. Members usually have the same order as in the previous
  // object.
  let next: u32 = table + TABLE_FIRST;
  let count: u32 = 0;
  at = skipSpace(at + 1);
  if (load<u8>(at) != 0x7d) {
    for (;;) {
      if (load<u8>(at) != 0x22) return 0;
      at++;
      let key = load<u32>(next);
      if (!hasName(key, at)) {
        const end = endOfString(at);
        if (end == 0 || escaped) return 0;
        key = findKey(table, at, end - at);
        if (key == 0) at = passMember(table, at, end, depth + 1, stamp);
        else store<u32>(next, key);
      }
      if (key != 0) {
        if (load<u64>(key, KEY_STAMP) == stamp) return 0;
        store<u64>(key, stamp, KEY_STAMP);
        missing -= load<u32>(key, KEY_REQUIRED);
        next = key + KEY_NEXT;
        at = skipSpace(at + load<u32>(key, KEY_LENGTH) + 1);
        if (load<u8>(at) != 0x3a) return 0;
        at = checkValue(load<u32>(key, KEY_NODE), skipSpace(at + 1), depth + 1);
      }
      if (at == 0) return 0;
      count++;
      at = skipSpace(at);
      const byte = load<u8>(at);
      if (byte == 0x7d) break;
      if (byte != 0x2c) return 0;
      at = skipSpace(at + 1);
    }
  }
  countValues(count);
  if (missing != 0 && ((missing & (EXPECTED - 1)) != 0 || !recordAbsent(table, stamp))) return 0;
  return at + 1;
}

/** Records the expected members that object number `stamp` lacks. Returns false if there are too many. */
function recordAbsent(table: u32, stamp: u64): bool {
  for (let bucket: u32 = 0; bucket <= load<u32>(table, TABLE_MASK); bucket++) {
    let key = load<u32>(table + (bucket << 2), TABLE_BUCKETS);
    while (key != 0) {
      const isAbsent = load<u32>(key, KEY_REQUIRED) == EXPECTED && load<u64>(key, KEY_STAMP) != stamp;
      if (isAbsent && load<u32>(key, KEY_RECORDED) != scans) {
        store<u32>(key, scans, KEY_RECORDED);
        if (!recordDeparture(load<u32>(key, KEY_NODE), 0, 0)) return false;
      }
      key = load<u32>(key, KEY_CHAIN);
    }
  }
  return true;
}

/** Returns whether the member's name, followed by a closing quote, begins at `at`. */
function hasName(key: u32, at: u32): bool {
  let name = key + KEY_NAME;
  let left = load<u32>(key, KEY_LENGTH) + 1;
  while (left >= 8) {
    if (load<u64>(name) != load<u64>(at)) return false;
    name += 8;
    at += 8;
    left -= 8;
  }
  // The lowest-order bytes come first in memory, so this shift removes the bytes after the name and the quote.
  return left == 0 || (load<u64>(name) ^ load<u64>(at)) << ((8 - left) << 3) == 0;
}

/** Returns the documented member with this name, or 0 if there is none. */
function findKey(table: u32, at: u32, length: u32): u32 {
  const bucket = hashOf(at, length) & load<u32>(table, TABLE_MASK);
  let key = load<u32>(table + (bucket << 2), TABLE_BUCKETS);
  while (key != 0) {
    if (load<u32>(key, KEY_LENGTH) == length && sameBytes(key + KEY_NAME, at, length)) return key;
    key = load<u32>(key, KEY_CHAIN);
  }
  return 0;
}

/**
 * Returns the hash of a name. It is computed from the name's length, first byte and last byte. The host computes it in
 * the same way.
 */
function hashOf(at: u32, length: u32): u32 {
  return length == 0 ? 0 : length + load<u8>(at) * 7 + load<u8>(at + length - 1) * 31;
}

/** Reads an undocumented member. Returns the position after its value, or 0 if the member may be invalid. */
function passMember(table: u32, name: u32, nameEnd: u32, depth: u32, stamp: u64): u32 {
  if (load<u32>(table, TABLE_UNDOCUMENTED) == DOUBTED) return 0;
  let at = skipSpace(nameEnd + 1);
  if (load<u8>(at) != 0x3a) return 0;
  at = skipSpace(at + 1);
  const end = skipValue(at, depth);
  return end != 0 && recordMember(table, name, nameEnd - name, at, end, stamp) ? end : 0;
}
