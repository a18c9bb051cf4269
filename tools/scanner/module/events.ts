// What the scan writes to memory for the host: the excerpt, the undocumented members, and the departures from the
// contract's expectations.

import {
  DEPARTURES,
  DEPARTURE_FROM,
  DEPARTURE_INDICES,
  DEPARTURE_NODE,
  DEPARTURE_SIZE,
  DEPARTURE_TO,
  EVENTS,
  EVENTS_END,
  EVENT_SIZE,
  EVENT_TEXT,
  EVENT_VALUE,
  INDICES,
  MAX_DEPARTURES,
  MAX_EXAMINED,
  MAX_MEMBERS,
  MEMBERS,
  MEMBER_INDICES,
  MEMBER_NAME,
  MEMBER_NAME_LENGTH,
  MEMBER_SIZE,
  MEMBER_STAMP,
  MEMBER_TABLE,
  MEMBER_VALUE,
  MEMBER_VALUE_END,
  TAG_BITS,
} from '../../../src/engine/scanner/table-layout';
import { sameBytes } from './text';

let eventsEnd: u32 = 0;

/** The number of distinct undocumented members. */
export let members: u32 = 0;
/** The number of undocumented members, including repeated ones. */
let examined: u32 = 0;
/** The index of the member to compare next. Most items in a list have the same members in the same order. */
let expected: u32 = 0;

/** The number of the current scan. */
export let scans: u32 = 0;
/** The number of recorded departures. */
export let departures: u32 = 0;

/** Resets the excerpt and the recorded differences for a new body. */
export function beginEvents(): void {
  eventsEnd = EVENTS;
  members = 0;
  examined = 0;
  expected = 0;
  scans++;
  departures = 0;
}

/** Writes an event without a value. Returns false if the buffer is full. */
export function writeEvent(slot: u32, kind: u32): bool {
  if (eventsEnd >= <u32>EVENTS_END) return false;
  store<u32>(eventsEnd, (slot << TAG_BITS) | kind);
  eventsEnd += EVENT_SIZE;
  return true;
}

/** Writes an event whose value is a number. Returns false if the buffer is full. */
export function writeNumber(slot: u32, kind: u32, value: f64): bool {
  const event = eventsEnd;
  if (!writeEvent(slot, kind)) return false;
  store<f64>(event, value, EVENT_VALUE);
  return true;
}

/** Writes an event whose value is the string between two positions. */
export function writeText(slot: u32, kind: u32, from: u32, to: u32): bool {
  const event = eventsEnd;
  if (!writeEvent(slot, kind)) return false;
  store<u32>(event, from, EVENT_TEXT);
  store<u32>(event, to, EVENT_VALUE);
  return true;
}

/**
 * Records an undocumented member of object number `stamp`. If several items have the same member at the
 * same location, only the first is recorded. Returns false if the object already has a member with this name, or if
 * there are too many members.
 */
export function recordMember(table: u32, name: u32, length: u32, value: u32, valueEnd: u32, stamp: u64): bool {
  if (++examined > <u32>MAX_EXAMINED) return false;
  for (let left = members; left > 0; left--) {
    const member = MEMBERS + expected * MEMBER_SIZE;
    if (++expected >= members) expected = 0;
    if (load<u32>(member, MEMBER_TABLE) != table || load<u32>(member, MEMBER_NAME_LENGTH) != length) continue;
    if (!sameBytes(load<u32>(member, MEMBER_NAME), name, length)) continue;
    if (load<u64>(member, MEMBER_STAMP) == stamp) return false;
    store<u64>(member, stamp, MEMBER_STAMP);
    return true;
  }
  if (members >= <u32>MAX_MEMBERS) return false;
  const member = MEMBERS + members * MEMBER_SIZE;
  store<u32>(member, table, MEMBER_TABLE);
  store<u32>(member, name, MEMBER_NAME);
  store<u32>(member, length, MEMBER_NAME_LENGTH);
  store<u32>(member, value, MEMBER_VALUE);
  store<u32>(member, valueEnd, MEMBER_VALUE_END);
  v128.store(member, v128.load(INDICES), MEMBER_INDICES);
  store<u64>(member, stamp, MEMBER_STAMP);
  members++;
  expected = 0;
  return true;
}

/**
 * Records an absent member (`from` is 0) or a string with an unexpected form. The caller ensures that each location is
 * recorded only once. Returns false if too many have been recorded.
 */
export function recordDeparture(node: u32, from: u32, to: u32): bool {
  if (departures >= <u32>MAX_DEPARTURES) return false;
  const departure = DEPARTURES + departures * DEPARTURE_SIZE;
  store<u32>(departure, node, DEPARTURE_NODE);
  store<u32>(departure, from, DEPARTURE_FROM);
  store<u32>(departure, to, DEPARTURE_TO);
  v128.store(departure, v128.load(INDICES), DEPARTURE_INDICES);
  departures++;
  return true;
}
