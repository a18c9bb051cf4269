import { BEYOND_ASCII, type CharacterSet, parsePattern, type PatternNode } from './parse-pattern.ts';
import { UnsupportedSchema } from './schema-alternatives.ts';

/**
 * The number of bytes per state. For each value that the next byte of a string can have, a state contains the next
 * state.
 */
const ROW = 256;
/** The maximum number of states. A state's number must fit in a byte, and state 0 means failure. */
const MAX_STATES = 255;
const MAX_NODES = 4000;

const BACKSLASH = 0x5c;
const CONTINUATION = 0x80;
const FIRST_LEAD = 0xc2;
const LAST_LEAD = 0xf4;

/**
 * Compiles a pattern to an automaton over the bytes of a valid UTF-8 string. State 1 is the initial state, and column 0
 * contains 1 for accepting states. Strings with escapes are never accepted.
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
      // The first byte represents the whole character; the bytes that follow it do not change the state.
      if (code === BEYOND_ASCII) row.fill(next, FIRST_LEAD, LAST_LEAD + 1);
      else if (code !== BACKSLASH) row[code] = next;
    }
  }
  row.fill(state, CONTINUATION, FIRST_LEAD);
  row[0] = nodes.includes(last) ? 1 : 0;
  return row;
}

/** Characters that every set in a pattern treats the same way. */
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
    // Every part begins at a new node, which has no transitions yet.
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

/** Returns the given nodes and all nodes that can be reached from them by empty transitions, in ascending order. */
function withEmptySteps({ empty }: Steps, nodes: readonly number[]): readonly number[] {
  const all = new Set(nodes);
  for (const node of all) for (const next of empty[node] ?? []) all.add(next);
  return [...all].sort((a, b) => a - b);
}
