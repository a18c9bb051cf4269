import { LRUCache } from 'lru-cache';
import { keysOf } from '../../lib/json-pointer.ts';
import { compilePattern } from './compile-pattern.ts';
import type { PlacedSchema, SchemasByPath } from '../contract/schema-alternatives.ts';
import { EVERY_KIND, mergeRules, type ObjectRules, UnsupportedSchema, type ValueRules } from './merge-rules.ts';
import * as layout from './table-layout.ts';

/**
 * The parts of a body that belong to an excerpt, as a tree of member names. The name `*` stands for every element of
 * an array.
 */
export interface ExcerptTree {
  readonly inside: ReadonlyMap<string, ExcerptTree>;
}

interface BuiltTree extends ExcerptTree {
  readonly inside: Map<string, BuiltTree>;
}

/** The name that stands for all elements of an array in a path. */
const EVERY_ELEMENT = '*';

/** Builds the tree for a list of JSON pointers such as `/list/*\/id`. */
export function toExcerptTree(paths: readonly string[]): ExcerptTree {
  const root: BuiltTree = { inside: new Map() };
  for (const path of paths) {
    let here = root;
    for (const name of keysOf(path)) {
      const next = here.inside.get(name) ?? { inside: new Map<string, BuiltTree>() };
      here.inside.set(name, next);
      here = next;
    }
  }
  return root;
}

/** The tables of one schema, stored in the module's memory. */
interface CompiledTables {
  /** The address of the node that contains the rules for the whole body. */
  readonly root: number;
  /** The names of the members in the excerpt, indexed by slot. */
  readonly names: readonly string[];
  /**
   * For each table, the path in the body to the objects to which the table applies. A path consists of member names and
   * `*` for array elements.
   */
  readonly places: ReadonlyMap<number, readonly string[]>;
  /**
   * For each node with an expectation, the path of the values to which the expectation applies. A scan can record
   * values that do not meet the expectation.
   */
  readonly expectations: ReadonlyMap<number, readonly string[]>;
}

/** A value's location in the body. */
interface Position {
  readonly path: readonly string[];
  /** The number of arrays that contain the value. */
  readonly level: number;
  /** The parts of the value that belong to the excerpt, or undefined if the value does not belong to it. */
  readonly excerpt: ExcerptTree | undefined;
  readonly slot: number;
}

/** The maximum nesting depth. Only recursive schemas describe values at a greater depth. */
const MAX_DEPTH = 32;

/**
 * The automata of patterns, for all memories. A reload compiles the patterns of the contract into a new memory, and most
 * of the time of a compilation is spent on them.
 */
const automata = new LRUCache<string, Uint8Array>({
  max: 1000,
  maxSize: 4 << 20,
  sizeCalculation: ({ length }) => length,
});

/**
 * Creates a compiler that writes tables to `memory`. All schemas compiled into the same memory share their patterns.
 */
export function createTableCompiler(memory: TableMemory) {
  const patterns = new Map<string, number>();
  const patternAt = (source: string): number => {
    const known = patterns.get(source);
    if (known !== undefined) return known;
    const rows = automata.get(source) ?? compilePattern(source);
    automata.set(source, rows);
    const address = memory.allocate(rows.length);
    memory.write(address, rows);
    patterns.set(source, address);
    return address;
  };

  return (schemas: SchemasByPath, place: PlacedSchema, excerpt: ExcerptTree): CompiledTables => {
    const names: string[] = ['', ''];
    const places = new Map<number, readonly string[]>();
    const expectations = new Map<number, readonly string[]>();

    const slotOf = (name: string): number => {
      const known = names.indexOf(name, layout.ELEMENT_SLOT + 1);
      return known > 0 ? known : names.push(name) - 1;
    };

    const writeNode = (parts: readonly PlacedSchema[], at: Position): number => {
      if (at.path.length > MAX_DEPTH) throw new UnsupportedSchema('a schema that contains itself');
      const rules = mergeRules(schemas, parts);
      const object = rules.object ?? openObject(at.excerpt);
      const { inside } = at.excerpt ?? { inside: new Map<string, ExcerptTree>() };
      const items = rules.items.length > 0 || inside.has(EVERY_ELEMENT) ? writeItems(rules, at) : 0;
      const table = object === undefined || (rules.kinds & layout.OBJECT) === 0 ? 0 : writeTable(object, at);
      const { allowedWords, allowedPattern, isExpectation } = stringRules(rules);
      const words = allowedWords === undefined ? 0 : writeWords(memory, allowedWords);
      const pattern = allowedPattern === undefined || words !== 0 ? 0 : patternAt(allowedPattern);
      const node = memory.allocate(layout.NODE_SIZE);
      if (isExpectation) expectations.set(node, at.path);
      const view = memory.view();
      view.setUint32(node + layout.NODE_KINDS, flagsOf(rules, table !== 0 || items !== 0), true);
      view.setUint32(node + layout.NODE_SLOT, at.slot, true);
      view.setFloat64(node + layout.NODE_MINIMUM, rules.minimum, true);
      view.setFloat64(node + layout.NODE_MAXIMUM, rules.maximum, true);
      view.setUint32(node + layout.NODE_PATTERN, pattern, true);
      view.setUint32(node + layout.NODE_WORDS, words, true);
      view.setUint32(node + layout.NODE_MIN_LENGTH, toLimit(rules.minLength), true);
      view.setUint32(node + layout.NODE_MAX_LENGTH, toLimit(rules.maxLength), true);
      view.setUint32(node + layout.NODE_TABLE, table, true);
      view.setUint32(node + layout.NODE_ITEMS, items, true);
      view.setUint32(node + layout.NODE_MIN_ITEMS, toLimit(rules.minItems), true);
      view.setUint32(node + layout.NODE_MAX_ITEMS, toLimit(rules.maxItems), true);
      view.setUint32(node + layout.NODE_LEVEL, at.level, true);
      return node;
    };

    const writeItems = (rules: ValueRules, at: Position): number => {
      if ((rules.kinds & layout.ARRAY) === 0) return 0;
      if (at.level >= layout.MAX_LEVELS) throw new UnsupportedSchema('arrays in arrays in arrays');
      const inside = at.excerpt?.inside.get(EVERY_ELEMENT);
      return writeNode(rules.items, {
        path: [...at.path, EVERY_ELEMENT],
        level: at.level + 1,
        excerpt: inside,
        slot: inside === undefined ? 0 : layout.ELEMENT_SLOT,
      });
    };

    const writeTable = ({ members, required, expected, others }: ObjectRules, at: Position): number => {
      const wanted = at.excerpt?.inside ?? new Map<string, ExcerptTree>();
      // Members that later steps read, but that no schema documents. If one of them is present, the scan does not prove
      // that the body is valid.
      const doubtful = [...wanted.keys()].filter((name) => name !== EVERY_ELEMENT && !members.has(name));
      const all = [...members, ...doubtful.map((name) => [name, NEVER] as const)];
      const children = all.map(([name, parts]) => {
        const inside = wanted.get(name);
        const slot = inside === undefined ? 0 : slotOf(name);
        return writeNode(parts, { path: [...at.path, name], level: at.level, excerpt: inside, slot });
      });
      const keys = all.map(([name], index): KeyEntry => {
        const need = required.has(name) ? layout.REQUIRED : expected.has(name) ? layout.EXPECTED : 0;
        return { name, node: children[index] ?? 0, need };
      });
      for (const { name, node, need } of keys) if (need === layout.EXPECTED) expectations.set(node, [...at.path, name]);
      const table = writeKeys(memory, keys);
      const view = memory.view();
      const needs = keys.reduce((sum, { need }) => sum + need, 0);
      view.setUint32(table + layout.TABLE_REQUIRED, needs, true);
      view.setUint32(table + layout.TABLE_UNDOCUMENTED, OTHERS[others], true);
      if (others === 'reported') places.set(table, at.path);
      return table;
    };

    const root = writeNode([place], { path: [], level: 0, excerpt, slot: layout.ELEMENT_SLOT });
    return { root, names, places, expectations };
  };
}

const NEVER: readonly PlacedSchema[] = [{ schema: false, path: '' }];
const OTHERS = { ignored: layout.IGNORED, reported: layout.REPORTED, doubted: layout.DOUBTED } as const;

/** Returns rules for an object that no schema describes. The rules contain the members that belong to the excerpt. */
function openObject(excerpt: ExcerptTree | undefined): ObjectRules | undefined {
  const names = [...(excerpt?.inside.keys() ?? [])].filter((name) => name !== EVERY_ELEMENT);
  if (names.length === 0) return undefined;
  const members = new Map(names.map((name) => [name, [{ schema: true, path: '' }]]));
  return { members, required: new Set(), expected: new Set(), others: 'ignored' };
}

function flagsOf(rules: ValueRules, hasInside: boolean): number {
  const { kinds, minimum, maximum, pattern, words, minLength, maxLength, minItems, maxItems } = rules;
  let flags = kinds;
  if (pattern !== undefined || words !== undefined || minLength > 0 || Number.isFinite(maxLength))
    flags |= layout.CHECKED_STRING;
  if (stringRules(rules).isExpectation) flags |= layout.CHECKED_STRING | layout.EXPECTED_STRING;
  if (Number.isFinite(minimum) || Number.isFinite(maximum)) flags |= layout.BOUNDED_NUMBER;
  if (minimum <= 0 && maximum >= 10 ** 18) flags |= layout.SHORT_NUMBERS_FIT;
  if ((flags & ~layout.SHORT_NUMBERS_FIT) === EVERY_KIND && minItems === 0 && !Number.isFinite(maxItems) && !hasInside)
    flags |= layout.ANYTHING;
  return flags;
}

/** Returns the rules for strings. They are either requirements or expectations. Throws if a value has both. */
function stringRules({ words, pattern, minLength, maxLength, expectedWords, expectedPattern }: ValueRules) {
  if (expectedWords === undefined && expectedPattern === undefined)
    return { allowedWords: words, allowedPattern: pattern, isExpectation: false };
  if (words !== undefined || pattern !== undefined || minLength > 0 || Number.isFinite(maxLength))
    throw new UnsupportedSchema('an expected form with other rules for strings');
  return { allowedWords: expectedWords, allowedPattern: expectedPattern, isExpectation: true };
}

const toLimit = (count: number) => Math.min(count, 0xffff_ffff);

function writeWords(memory: TableMemory, words: readonly string[]): number {
  const texts = words.map((word) => Buffer.from(word));
  const sizes = texts.map(({ length }) => 4 + Math.ceil(length / 4) * 4);
  const address = memory.allocate(layout.WORDS_FIRST + sizes.reduce((sum, size) => sum + size, 0));
  memory.view().setUint32(address, words.length, true);
  let at = address + layout.WORDS_FIRST;
  texts.forEach((text, index) => {
    memory.view().setUint32(at, text.length, true);
    memory.write(at + 4, text);
    at += sizes[index] ?? 0;
  });
  return address;
}

/** One documented member of an object. */
interface KeyEntry {
  readonly name: string;
  readonly node: number;
  /** Whether the contract requires or expects the member: `REQUIRED`, `EXPECTED` or 0. */
  readonly need: number;
}

/** Writes an object's members and their hash table to memory, and returns the address of the table. */
function writeKeys(memory: TableMemory, entries: readonly KeyEntry[]): number {
  const buckets = 2 ** Math.ceil(Math.log2(entries.length * 2));
  const table = memory.allocate(layout.TABLE_BUCKETS + buckets * 4);
  const keys = entries.map(({ name }) =>
    memory.allocate(layout.KEY_NAME + Math.ceil((Buffer.byteLength(name) + 1) / 8) * 8),
  );
  const view = memory.view();
  view.setUint32(table + layout.TABLE_FIRST, keys[0] ?? 0, true);
  view.setUint32(table + layout.TABLE_MASK, buckets - 1, true);
  entries.forEach(({ name, node, need }, index) => {
    const key = keys[index] ?? 0;
    const text = Buffer.from(name);
    // The scanner neither decodes escapes in names nor searches documented names for addresses, and a member named
    // `__proto__` cannot be set, so such names are excluded.
    if (/["\\\p{Cc}]|:\//u.test(name) || name === '__proto__')
      throw new UnsupportedSchema(`the name ${JSON.stringify(name)}`);
    const bucket = table + layout.TABLE_BUCKETS + (hashOf(text) & (buckets - 1)) * 4;
    view.setUint32(key + layout.KEY_LENGTH, text.length, true);
    view.setUint32(key + layout.KEY_NODE, node, true);
    view.setUint32(key + layout.KEY_NEXT, keys[(index + 1) % keys.length] ?? 0, true);
    view.setUint32(key + layout.KEY_REQUIRED, need, true);
    view.setUint32(key + layout.KEY_CHAIN, view.getUint32(bucket, true), true);
    view.setUint32(bucket, key, true);
    memory.write(key + layout.KEY_NAME, Buffer.concat([text, QUOTE]));
  });
  return table;
}

const QUOTE = Buffer.from('"');

/** Returns the hash of a name, computed in the same way as in the module. */
function hashOf(name: Uint8Array): number {
  return name.length === 0 ? 0 : name.length + (name[0] ?? 0) * 7 + (name.at(-1) ?? 0) * 31;
}

const PAGE = 65_536;

/** The memory of a WebAssembly module. */
export interface ModuleMemory {
  /** The current buffer. It is replaced whenever the memory grows. */
  readonly buffer: ArrayBuffer;
  readonly grow: (pages: number) => number;
}

/** The part of the module's memory that contains tables. Tables are never removed, and their addresses never change. */
interface TableMemory {
  /** Allocates `size` zeroed bytes and returns their address, which is a multiple of 16. */
  readonly allocate: (size: number) => number;
  /** Returns a view of the whole memory. It is valid until the next allocation. */
  readonly view: () => DataView;
  /** Copies bytes to an address. */
  readonly write: (address: number, bytes: Uint8Array) => void;
  /** The address after the last table. */
  readonly end: number;
}

/** Creates a `TableMemory` in the memory of a module. */
export function createTableMemory(memory: ModuleMemory): TableMemory {
  const tables = {
    end: layout.TABLES,
    allocate(size: number) {
      const address = tables.end;
      tables.end += Math.ceil(size / 16) * 16;
      growTo(memory, tables.end);
      // Bodies are stored after the last table, so this part of the memory may still contain bytes from an earlier
      // body.
      new Uint8Array(memory.buffer).fill(0, address, tables.end);
      return address;
    },
    view: () => new DataView(memory.buffer),
    write: (address: number, bytes: Uint8Array) => new Uint8Array(memory.buffer).set(bytes, address),
  };
  return tables;
}

/** Grows a memory to at least this number of bytes. Existing views of the memory become invalid. */
export function growTo(memory: ModuleMemory, bytes: number): void {
  const missing = bytes - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
}
