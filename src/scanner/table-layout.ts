// The memory of the module: what tables, events and results look like. The source of the module imports this file too,
// so it holds plain integers only. Sizes and offsets are in bytes.

/** The kinds of JSON values, as bits. A number with a fraction or an exponent is a `FRACTION`. */
export const NULL = 1;
export const TRUE = 2;
export const FALSE = 4;
export const INTEGER = 8;
export const FRACTION = 16;
export const STRING = 32;
export const OBJECT = 64;
export const ARRAY = 128;
/** Beside the kinds: strings have a pattern, an enum or a length to check. */
export const CHECKED_STRING = 256;
/** Beside the kinds: numbers have a minimum or a maximum. */
export const BOUNDED_NUMBER = 512;
/** Beside the kinds: every value is valid. */
export const ANYTHING = 1024;
/** Beside the kinds: integers of at most 18 digits without a minus are between the minimum and the maximum. */
export const SHORT_NUMBERS_FIT = 2048;

// A node has the rules for one value. References are addresses; 0 stands for none.
export const NODE_KINDS = 0;
/** The slot of the value in the excerpt; 0 for values that are not part of it. */
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
/** The number of arrays around an array: the place of its current index in `INDICES`. */
export const NODE_LEVEL = 56;
export const NODE_SIZE = 64;

/** A table has the documented members of an object, which are found by a hash of the name. */
export const TABLE_REQUIRED = 0;
export const TABLE_UNDOCUMENTED = 4;
/** The member that the last object began with. */
export const TABLE_FIRST = 8;
/** The number of hash buckets minus one; the buckets follow. A bucket is the address of its first member. */
export const TABLE_MASK = 12;
export const TABLE_BUCKETS = 16;

// What happens to an object with an undocumented member.
export const IGNORED = 0;
export const REPORTED = 1;
export const DOUBTED = 2;

// One documented member. Its name, a closing quote and zeros up to a multiple of 8 bytes are at `KEY_NAME`.
export const KEY_LENGTH = 0;
export const KEY_NODE = 4;
/** The member that followed this one in the last object. */
export const KEY_NEXT = 8;
/** 1 for a required member, otherwise 0. */
export const KEY_REQUIRED = 12;
/** The number of the last object that had the member. */
export const KEY_STAMP = 16;
/** The next member with the same hash. */
export const KEY_CHAIN = 24;
export const KEY_NAME = 32;

// A pattern is an automaton: a row of 256 states per state, by the next byte. State 0 is a failure, state 1 the start.
// The byte 0 never occurs in a string; its column is 1 in states that accept.

/** Words are those of an `enum`: their number, then for each its length and its bytes up to a multiple of 4. */
export const WORDS_FIRST = 4;

// Results of a scan.
export const RESULT_VALUES = 1024;
export const RESULT_UNDOCUMENTED = 1028;
/** The index of the current element in each of the nested arrays around it. */
export const INDICES = 1040;
export const MAX_LEVELS = 4;

// One undocumented member: of which table, where the name and the value are, the indices on the way, the last object.
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
/** Undocumented members in all objects. Today's search for them stops at 5000. */
export const MAX_EXAMINED = 4999;

/** The names of the open objects around the current value: position and length. */
export const NAMES = 4160;
export const NAME_SIZE = 8;
/** More names in one open object are not compared. */
export const MAX_NAMES = 64;
export const NAMES_END = 12352;

/** The excerpt, as a sequence of events: a tag (slot and kind), and a number, a count or where a text begins and ends. */
export const EVENTS = 16384;
export const EVENT_TEXT = 4;
export const EVENT_VALUE = 8;
export const EVENT_SIZE = 16;
export const EVENTS_END = 278528;
/** The bits of a tag that hold the kind; the slot is above. */
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
/** An array of which only the length is part of the excerpt. */
export const EVENT_COUNT = 9;
export const EVENT_END = 10;
/** The slot of an element of an array; higher slots are names. */
export const ELEMENT_SLOT = 1;

/** Tables begin here. The bytes of the body follow the last table. */
export const TABLES = 278528;
/** The zero bytes behind the body, which end every loop. */
export const PADDING = 32;
