import { UnsupportedSchema } from './schema-alternatives.ts';

/**
 * A set of characters, stored as one flag for each ASCII character and one flag for all others together. A set never
 * contains a character that the pattern rejects. It may lack some characters that the pattern accepts, because a body
 * that contains them is then merely parsed and validated.
 */
export type CharacterSet = Uint8Array;

/** The index of the flag for all characters outside ASCII. */
export const BEYOND_ASCII = 128;

/** A node in the tree of a parsed pattern. */
export type PatternNode =
  | { readonly kind: 'set'; readonly set: CharacterSet }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly part: PatternNode };

/**
 * Parses a JSON Schema pattern (ECMA-262 with the `u` flag) into a tree that matches whole strings. Throws for
 * lookaround assertions, backreferences, word boundaries and Unicode classes.
 */
export function parsePattern(source: string): PatternNode {
  const reader = createReader(source);
  const tree = readAlternatives(reader, true);
  if (!reader.atEnd()) throw unsupported(source);
  return tree;
}

/** Reads a pattern character by character. */
interface Reader {
  readonly source: string;
  readonly atEnd: () => boolean;
  /** Returns the next character without consuming it, or an empty string at the end. */
  readonly peek: () => string;
  /** Consumes and returns one character. Throws at the end and for characters outside ASCII. */
  readonly next: () => string;
  /** If the given text comes next, consumes it and returns true. Otherwise, returns false. */
  readonly take: (text: string) => boolean;
}

function createReader(source: string): Reader {
  let at = 0;
  return {
    source,
    atEnd: () => at >= source.length,
    peek: () => source[at] ?? '',
    next: () => {
      const character = source[at] ?? '';
      if (character === '' || character > '\x7f') throw unsupported(source);
      at += 1;
      return character;
    },
    take: (text) => {
      if (!source.startsWith(text, at)) return false;
      at += text.length;
      return true;
    },
  };
}

/**
 * Parses alternatives. Only the outermost ones may have anchors. Where an anchor is missing, any text may precede or
 * follow the match.
 */
function readAlternatives(reader: Reader, outermost: boolean): PatternNode {
  const parts = [readSequence(reader, outermost)];
  while (reader.take('|')) parts.push(readSequence(reader, outermost));
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: 'choice', parts };
}

function readSequence(reader: Reader, outermost: boolean): PatternNode {
  const parts: PatternNode[] = [];
  if (outermost && !reader.take('^')) parts.push(ANYTHING);
  let anchored = false;
  while (!reader.atEnd() && reader.peek() !== '|' && reader.peek() !== ')') {
    if (anchored) throw unsupported(reader.source);
    if (outermost && reader.take('$')) anchored = true;
    else parts.push(readRepetition(reader));
  }
  if (outermost && !anchored) parts.push(ANYTHING);
  return { kind: 'sequence', parts };
}

const NOTHING: PatternNode = { kind: 'sequence', parts: [] };
const optional = (part: PatternNode): PatternNode => ({ kind: 'choice', parts: [part, NOTHING] });

function readRepetition(reader: Reader): PatternNode {
  const part = readAtom(reader);
  let repeated: PatternNode;
  if (reader.take('?')) repeated = optional(part);
  else if (reader.take('*')) repeated = { kind: 'repeat', part };
  else if (reader.take('+')) repeated = { kind: 'sequence', parts: [part, { kind: 'repeat', part }] };
  else if (reader.take('{')) repeated = readCount(reader, part);
  else return part;
  // A lazy quantifier matches the same strings as a greedy one.
  reader.take('?');
  return repeated;
}

/** The maximum number of repetitions. A higher number would need too many states. */
const MAX_REPETITIONS = 200;

/** Reads the rest of a quantifier such as `{2}`, `{2,}` or `{2,5}`. */
function readCount(reader: Reader, part: PatternNode): PatternNode {
  const least = readInteger(reader);
  let most: number | undefined = least;
  if (reader.take(',')) most = reader.peek() === '}' ? undefined : readInteger(reader);
  if (!reader.take('}') || Math.max(least, most ?? 0) > MAX_REPETITIONS) throw unsupported(reader.source);
  const parts = Array.from({ length: least }, () => part);
  if (most === undefined) parts.push({ kind: 'repeat', part });
  else for (let extra = least; extra < most; extra += 1) parts.push(optional(part));
  return { kind: 'sequence', parts };
}

function readInteger(reader: Reader): number {
  let digits = '';
  while (/^\d$/.test(reader.peek())) digits += reader.next();
  if (digits === '') throw unsupported(reader.source);
  return Number(digits);
}

function readAtom(reader: Reader): PatternNode {
  const character = reader.next();
  if (character === '(') {
    if (reader.take('?') && !reader.take(':')) throw unsupported(reader.source);
    const inner = readAlternatives(reader, false);
    if (!reader.take(')')) throw unsupported(reader.source);
    return inner;
  }
  if (character === '[') return { kind: 'set', set: readClass(reader) };
  if (character === '\\') return { kind: 'set', set: readEscape(reader) };
  // Some line terminators are outside ASCII, so the set excludes all non-ASCII characters.
  if (character === '.') return { kind: 'set', set: setOf(({ code }) => code !== 0x0a && code !== 0x0d) };
  if ('^$*+?{}]|)'.includes(character)) throw unsupported(reader.source);
  return { kind: 'set', set: setOf((one) => one.character === character) };
}

/** Reads an escape, inside or outside a class. */
function readEscape(reader: Reader): CharacterSet {
  const character = reader.next();
  const known = ESCAPES.get(character);
  if (known !== undefined) return known;
  if (/\w/.test(character)) throw unsupported(reader.source);
  return setOf((one) => one.character === character);
}

function readClass(reader: Reader): CharacterSet {
  const negated = reader.take('^');
  const set: CharacterSet = new Uint8Array(BEYOND_ASCII + 1);
  while (!reader.take(']')) {
    const first = readMember(reader);
    addAll(set, first);
    if (!reader.take('-')) continue;
    // A hyphen at the end of a class is a literal hyphen.
    const last = reader.peek() === ']' ? HYPHEN : readMember(reader);
    addAll(set, last);
    if (last === HYPHEN) continue;
    const [from, to] = [first.indexOf(1), last.indexOf(1)];
    if (sizeOf(first) !== 1 || sizeOf(last) !== 1 || from > to) throw unsupported(reader.source);
    set.fill(1, from, to + 1);
  }
  return negated ? complement(set) : set;
}

function readMember(reader: Reader): CharacterSet {
  const character = reader.next();
  return character === '\\' ? readEscape(reader) : setOf((one) => one.character === character);
}

function addAll(set: CharacterSet, more: CharacterSet): void {
  for (const [code, has] of more.entries()) if (has === 1) set[code] = 1;
}

const sizeOf = (set: CharacterSet) => set.reduce((sum, has) => sum + has, 0);

const complement = (set: CharacterSet): CharacterSet => set.map((has) => 1 - has);

/** Returns the set of ASCII characters that pass a test. */
function setOf(test: (one: { readonly code: number; readonly character: string }) => boolean): CharacterSet {
  const set = new Uint8Array(BEYOND_ASCII + 1);
  for (let code = 0; code < BEYOND_ASCII; code += 1)
    if (test({ code, character: String.fromCharCode(code) })) set[code] = 1;
  return set;
}

const HYPHEN = setOf(({ character }) => character === '-');
const DIGITS = setOf(({ character }) => /\d/.test(character));
const WORD = setOf(({ character }) => /\w/.test(character));
const ESCAPES: ReadonlyMap<string, CharacterSet> = new Map([
  ['d', DIGITS],
  ['D', complement(DIGITS)],
  ['w', WORD],
  ['W', complement(WORD)],
]);

const ANYTHING: PatternNode = { kind: 'repeat', part: { kind: 'set', set: new Uint8Array(BEYOND_ASCII + 1).fill(1) } };

function unsupported(source: string): UnsupportedSchema {
  return new UnsupportedSchema(`the pattern ${source}`);
}
