// Skips values for which there are no rules. They only have to be well-formed JSON without duplicate names in an
// object.

import { MAX_NAMES, NAMES, NAMES_END, NAME_SIZE } from '../../../src/engine/scanner/table-layout';
import { endOfNumber } from './number';
import { endOfString, escaped, sameBytes, skipSpace } from './text';

/** The maximum nesting depth of objects and arrays. */
export let maxDepth: u32 = 0;

/** The number of elements, members, objects and arrays found so far. It may be too high, but it is never too low. */
export let values: u32 = 0;

/** The address after the last stored name. Only the names in the objects that enclose the current value are stored. */
let namesEnd: u32 = 0;

/** Resets the maximum depth, the count of values and the stored names for a new body. */
export function beginValues(depth: u32): void {
  maxDepth = depth;
  values = 1;
  namesEnd = NAMES;
}

/** Counts an array or object and its elements or members. */
export function countValues(inside: u32): void {
  values += inside + 1;
}

/** Returns the position after the word `true`, or 0 if the word does not begin at `at`. */
export function endOfTrue(at: u32): u32 {
  return load<u32>(at) == 0x65757274 ? at + 4 : 0;
}

/** Returns the position after the word `false`, or 0 if the word does not begin at `at`. */
export function endOfFalse(at: u32): u32 {
  return load<u32>(at + 1) == 0x65736c61 ? at + 5 : 0;
}

/** Returns the position after the word `null`, or 0 if the word does not begin at `at`. */
export function endOfNull(at: u32): u32 {
  return load<u32>(at) == 0x6c6c756e ? at + 4 : 0;
}

/**
 * Returns the position after the value at `at`, or 0 if the value might be invalid. `depth` is the number
 * of objects and arrays around the value.
 */
export function skipValue(at: u32, depth: u32): u32 {
  switch (load<u8>(at)) {
    case 0x22: {
      const end = endOfString(at + 1);
      return end == 0 ? 0 : end + 1;
    }
    case 0x7b:
      return skipObject(at, depth);
    case 0x5b:
      return skipArray(at, depth);
    case 0x74:
      return endOfTrue(at);
    case 0x66:
      return endOfFalse(at);
    case 0x6e:
      return endOfNull(at);
    default:
      return endOfNumber(at);
  }
}

/** Returns the position after the array at `at`, or 0 if the array might be invalid. */
export function skipArray(at: u32, depth: u32): u32 {
  if (depth >= maxDepth) return 0;
  let count: u32 = 0;
  at = skipSpace(at + 1);
  if (load<u8>(at) != 0x5d) {
    for (;;) {
      at = skipValue(at, depth + 1);
      if (at == 0) return 0;
      count++;
      at = skipSpace(at);
      const byte = load<u8>(at);
      if (byte == 0x5d) break;
      if (byte != 0x2c) return 0;
      at = skipSpace(at + 1);
    }
  }
  lastCount = count;
  countValues(count);
  return at + 1;
}

/** The number of elements in the last array that `skipArray` skipped. */
export let lastCount: u32 = 0;

/** Returns the position after the object at `at`, or 0 if the object might be invalid. */
export function skipObject(at: u32, depth: u32): u32 {
  if (depth >= maxDepth) return 0;
  const own = namesEnd;
  let count: u32 = 0;
  at = skipSpace(at + 1);
  if (load<u8>(at) != 0x7d) {
    for (;;) {
      if (load<u8>(at) != 0x22) return 0;
      const end = endOfString(at + 1);
      if (end == 0 || escaped || !isNewName(own, at + 1, end - at - 1)) return 0;
      count++;
      at = skipSpace(end + 1);
      if (load<u8>(at) != 0x3a) return 0;
      at = skipValue(skipSpace(at + 1), depth + 1);
      if (at == 0) return 0;
      at = skipSpace(at);
      const byte = load<u8>(at);
      if (byte == 0x7d) break;
      if (byte != 0x2c) return 0;
      at = skipSpace(at + 1);
    }
  }
  namesEnd = own;
  countValues(count);
  return at + 1;
}

/**
 * Adds a name to the names of the current object, which begin at `own`. Returns false if the object already has this
 * name, or if there are too many names.
 */
function isNewName(own: u32, at: u32, length: u32): bool {
  if (namesEnd - own >= <u32>(MAX_NAMES * NAME_SIZE) || namesEnd >= <u32>NAMES_END) return false;
  for (let name = own; name < namesEnd; name += NAME_SIZE)
    if (load<u32>(name, 4) == length && sameBytes(load<u32>(name), at, length)) return false;
  store<u32>(namesEnd, at);
  store<u32>(namesEnd, length, 4);
  namesEnd += NAME_SIZE;
  return true;
}
