// The layout of the module's memory: tables, events and results. This file contains only plain integers, because it is
// also imported by the module's source. Sizes and offsets are in bytes.

/** The kinds of JSON values, with one bit per kind. A `FRACTION` is a number with a fraction or an exponent. */
export const NULL = 1;
export const TRUE = 2;
export const FALSE = 4;
export const INTEGER = 8;
export const FRACTION = 16;
export const STRING = 32;
export const OBJECT = 64;
export const ARRAY = 128;
/** A bit that is set if strings have a pattern, an enum or a length to check. */
export const CHECKED_STRING = 256;
/** A bit that is set if numbers have a minimum or a maximum to check. */
export const BOUNDED_NUMBER = 512;
/** A bit that is set if every value is valid. */
export const ANYTHING = 1024;
/** A bit that is set if every integer with at most 18 digits and no minus sign is within the bounds. */
export const SHORT_NUMBERS_FIT = 2048;
/** A bit that is set if strings without the expected form are valid but are recorded. */
export const EXPECTED_STRING = 4096;

// A node contains the rules for one value. It refers to other rules by their addresses. Address 0 means that there is
// no such rule.
export const NODE_KINDS = 0;
/** The value's slot in the excerpt, or 0 for a value that is not part of it. */
export const NODE_SLOT = 4;
export const NODE_MINIMUM = 8;
export const NODE_MAXIMUM = 16;
export const NODE_PATTERN = 24;
export const NODE_WORDS = 28;
export const NODE_MIN_LENGTH = 32;
export const NODE_MAX_LENGTH = 36;
export const NODE_TABLE = 40;
export const NODE_ITEMS = 44;
export const NODE_MIN_ITEMS = 48;
export const NODE_MAX_ITEMS = 52;
/** The number of arrays in which an array is nested. It determines where `INDICES` stores the array's current index. */
export const NODE_LEVEL = 56;
/** The number of the last scan that recorded an unexpected string for this node. */
export const NODE_RECORDED = 60;
export const NODE_SIZE = 64;

// A table contains the documented members of an object. A member is found by the hash of its name.
/** The sum of `KEY_REQUIRED` over all members. */
export const TABLE_REQUIRED = 0;
export const TABLE_UNDOCUMENTED = 4;
/** The first member of the last scanned object. The next object is expected to begin with the same member. */
export const TABLE_FIRST = 8;
/** The number of hash buckets minus one. The buckets follow, each with the address of its first member. */
export const TABLE_MASK = 12;
export const TABLE_BUCKETS = 16;

// The possible effects of an undocumented member.
export const IGNORED = 0;
export const REPORTED = 1;
export const DOUBTED = 2;

// One documented member. `KEY_NAME` is the offset of its name, which is followed by a closing quote and zeros up to a
// multiple of 8 bytes.
export const KEY_LENGTH = 0;
export const KEY_NODE = 4;
/** The member that followed this member in the last scanned object. */
export const KEY_NEXT = 8;
/** Whether the contract requires or expects the member: `REQUIRED`, `EXPECTED` or 0. */
export const KEY_REQUIRED = 12;
/** The number of the last scanned object that contained the member. */
export const KEY_STAMP = 16;
/** The next member with the same hash. */
export const KEY_CHAIN = 24;
/** The number of the last scan that recorded the member as absent. */
export const KEY_RECORDED = 28;
export const KEY_NAME = 32;

/** If the member is absent, the body is invalid. */
export const REQUIRED = 1;
/**
 * If the member is absent, its absence is recorded. The value is larger than the number of required members in any
 * object, so that sums are unambiguous.
 */
export const EXPECTED = 65536;

// A pattern is an automaton with one row of 256 bytes per state. The row contains the next state for each byte. State
// 0 means failure, and state 1 is the initial state. Byte 0 never occurs in a string, so its column contains 1 for
// accepting states.

/**
 * Words are the values of an `enum`. They are stored as the number of words, followed by the length and the bytes of
 * each word, padded to a multiple of 4.
 */
export const WORDS_FIRST = 4;

// The results of a scan.
export const RESULT_VALUES = 1024;
export const RESULT_UNDOCUMENTED = 1028;
/** 1 if a string in the body may contain bytes that are not ASCII. */
export const RESULT_BEYOND_ASCII = 1032;
/** 1 if a string in the body may contain the beginning of an absolute address, which is a colon and a slash. */
export const RESULT_ADDRESS = 1036;
/** The number of recorded departures. */
export const RESULT_DEPARTURES = 1056;
/** The current index in each array that encloses the scan's position. */
export const INDICES = 1040;
export const MAX_LEVELS = 4;

// One undocumented member: its table, the positions of its name and its value, the array indices, and the number of the
// last object that contained it.
export const MEMBERS = 1088;
export const MEMBER_TABLE = 0;
export const MEMBER_NAME = 4;
export const MEMBER_NAME_LENGTH = 8;
export const MEMBER_VALUE = 12;
export const MEMBER_VALUE_END = 16;
export const MEMBER_INDICES = 24;
export const MEMBER_STAMP = 40;
export const MEMBER_SIZE = 48;
export const MAX_MEMBERS = 64;
/** The maximum number of undocumented members in all objects combined. It is just below the limit for a parsed body. */
export const MAX_EXAMINED = 1999;

/** The names of the members on the path to the current value. Each entry consists of a position and a length. */
export const NAMES = 4160;
export const NAME_SIZE = 8;
/** The maximum number of names to compare in one object. */
export const MAX_NAMES = 64;
export const NAMES_END = 12352;

// A departure from what the contract expects: an absent member, or a string with an unexpected form. It is stored as
// the node of the member or string, the beginning and the end of the string (0 for an absent member), and the array
// indices.
export const DEPARTURES = 12352;
export const DEPARTURE_NODE = 0;
export const DEPARTURE_FROM = 4;
export const DEPARTURE_TO = 8;
export const DEPARTURE_INDICES = 16;
export const DEPARTURE_SIZE = 32;
export const MAX_DEPARTURES = 120;

/**
 * The excerpt as a sequence of events. Each event consists of a tag (slot and kind) followed by a number, a count, or
 * the beginning and end of a string.
 */
export const EVENTS = 16384;
export const EVENT_TEXT = 4;
export const EVENT_VALUE = 8;
export const EVENT_SIZE = 16;
export const EVENTS_END = 278528;
/** The number of tag bits for the kind. The higher bits contain the slot. */
export const TAG_BITS = 4;
export const EVENT_NULL = 1;
export const EVENT_TRUE = 2;
export const EVENT_FALSE = 3;
export const EVENT_NUMBER = 4;
export const EVENT_STRING = 5;
/** The JSON text of a string with escapes, or of a number with a fraction or an exponent. */
export const EVENT_JSON = 6;
export const EVENT_OBJECT = 7;
export const EVENT_ARRAY = 8;
/** An array that is represented in the excerpt only by its length. */
export const EVENT_COUNT = 9;
export const EVENT_END = 10;
/** The slot for array elements. Each higher slot stands for a name. */
export const ELEMENT_SLOT = 1;

/** Tables begin here. The bytes of the body follow the last table. */
export const TABLES = 278528;
/** The number of zero bytes that follow the body. They ensure that every loop ends. */
export const PADDING = 32;
