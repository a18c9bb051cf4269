import { UnsupportedSchema } from './merge-rules.ts';

/** The length of a state's row. The row contains the next state for each possible next byte of the string. */
const ROW = 256;
/** The maximum number of states. A state's number must fit in a byte, and state 0 means failure. */
const MAX_STATES = 255;
const MAX_NODES = 4000;

const BACKSLASH = 0x5c;
const CONTINUATION = 0x80;
const FIRST_LEAD = 0xc2;
const LAST_LEAD = 0xf4;

/**
 * Compiles a pattern to an automaton over the bytes of a valid UTF-8 string. State 1 is the initial state. Column 0 is
 * 1 for accepting states. The automaton never accepts a string with escapes.
 */
export function compilePattern(source: string): Uint8Array {
  const steps = toSteps(parsePattern(source));
  if (steps.empty.length > MAX_NODES) throw new UnsupportedSchema(`the long pattern ${source}`);
  const states: (readonly number[])[] = [[]];
  const numbers = new Map<string, number>();
  const numberOf = (reached: readonly number[]): number => {
    if (reached.length === 0) return 0;
    const all = withEmptySteps(steps, reached);
    const key = all.join();
    const known = numbers.get(key) ?? states.length;
    if (known === states.length) {
      if (known > MAX_STATES) throw new UnsupportedSchema(`the pattern with many states ${source}`);
      numbers.set(key, known);
      states.push(all);
    }
    return known;
  };
  numberOf([0]);
  const rows: Uint8Array[] = [new Uint8Array(ROW)];
  const classes = classesOf(steps);
  for (let state = 1; state < states.length; state += 1)
    rows.push(rowOf(steps, states[state] ?? [], state, classes, numberOf));
  return Buffer.concat(rows);
}

function rowOf(
  { byCharacter, last }: Steps,
  nodes: readonly number[],
  state: number,
  classes: readonly CharacterClass[],
  numberOf: (reached: readonly number[]) => number,
): Uint8Array {
  const row = new Uint8Array(ROW);
  const steps = nodes.flatMap((node) => byCharacter[node] ?? []);
  for (const { first, codes } of classes) {
    const next = numberOf(steps.filter(({ set }) => set[first] === 1).map(({ to }) => to));
    for (const code of codes) {
      // The first byte of a character stands for the whole character. The following bytes do not change the state.
      if (code === BEYOND_ASCII) row.fill(next, FIRST_LEAD, LAST_LEAD + 1);
      else if (code !== BACKSLASH) row[code] = next;
    }
  }
  row.fill(state, CONTINUATION, FIRST_LEAD);
  row[0] = nodes.includes(last) ? 1 : 0;
  return row;
}

/** Characters that belong to exactly the same sets in a pattern. */
interface CharacterClass {
  readonly first: number;
  readonly codes: readonly number[];
}

function classesOf({ byCharacter }: Steps): readonly CharacterClass[] {
  const sets = [...new Set(byCharacter.flatMap((step) => step?.set ?? []))];
  const codes = Array.from({ length: BEYOND_ASCII }, (_, index) => index + 1);
  const groups = Map.groupBy(codes, (code) => sets.map((set) => set[code]).join(''));
  return [...groups.values()].map((group) => ({ first: group[0] ?? 0, codes: group }));
}

/** An automaton with empty transitions (Thompson's construction). It starts at node 0. */
interface Steps {
  readonly empty: number[][];
  readonly byCharacter: ({ readonly set: CharacterSet; readonly to: number } | undefined)[];
  readonly last: number;
}

function toSteps(tree: PatternNode): Steps {
  const empty: number[][] = [];
  const byCharacter: Steps['byCharacter'] = [];
  const add = () => {
    byCharacter.push(undefined);
    return empty.push([]) - 1;
  };
  const connect = (from: number, to: number) => empty[from]?.push(to);
  /** Adds a part after a node and returns the node that follows the part. */
  const append = (part: PatternNode, from: number): number => {
    if (empty.length > MAX_NODES) return from;
    if (part.kind === 'sequence') return part.parts.reduce((at, one) => append(one, at), from);
    const end = add();
    // Every part begins at a new node, which does not have any transitions yet.
    if (part.kind === 'set') byCharacter[from] = { set: part.set, to: end };
    else if (part.kind === 'choice') for (const one of part.parts) connect(append(one, branch(from)), end);
    else {
      const start = branch(from);
      connect(append(part.part, branch(start)), start);
      connect(start, end);
    }
    return end;
  };
  const branch = (from: number) => {
    const start = add();
    connect(from, start);
    return start;
  };
  return { empty, byCharacter, last: append(tree, add()) };
}

/** Returns the given nodes and all nodes reachable from them by empty transitions, in ascending order. */
function withEmptySteps({ empty }: Steps, nodes: readonly number[]): readonly number[] {
  const all = new Set(nodes);
  for (const node of all) for (const next of empty[node] ?? []) all.add(next);
  return [...all].sort((a, b) => a - b);
}

/**
 * A set of characters, stored as one flag for each ASCII character and one flag for all other characters together. A
 * set never contains a character that the pattern rejects, but it may lack characters that the pattern accepts. A body
 * that contains such a character is parsed and validated.
 */
type CharacterSet = Uint8Array;

/** The index of the flag for all characters outside ASCII. */
const BEYOND_ASCII = 128;

/** A node in the tree of a parsed pattern. */
type PatternNode =
  | { readonly kind: 'set'; readonly set: CharacterSet }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly part: PatternNode };

/**
 * Parses a JSON Schema pattern (ECMA-262 with the `u` flag) into a tree that matches whole strings. Throws for
 * lookaround assertions, backreferences, word boundaries and Unicode classes.
 */
function parsePattern(source: string): PatternNode {
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
  /** Consumes the given text if it comes next, and returns whether it did. */
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
 * Parses alternatives. Only the outermost alternatives may have anchors. Without an anchor, any text may precede or
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
  // A lazy quantifier matches the same strings as a greedy quantifier.
  reader.take('?');
  return repeated;
}

/** The maximum number of repetitions. More would require too many states. */
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
    // A hyphen at the end of a character class is a literal hyphen.
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

/** Returns the set of all ASCII characters that pass a test. */
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
