import { createRequire } from 'node:module';
import { runInNewContext } from 'node:vm';
import type * as Refa from 'refa';
import type { CharSet, Element, Expression, NoParent } from 'refa';
import type * as Scslre from 'scslre';

/** How the time that an expression needs can grow with the length of a text. */
export interface SuperLinear {
  readonly growth: 'exponential' | 'polynomial';
  /** What a slow text repeats. */
  readonly word: string;
}

interface Libraries {
  readonly analyse: typeof Scslre.analyse;
  readonly refa: typeof Refa;
}

let loaded: Libraries | undefined;

// The libraries are loaded on first use, because only expressions that an operator has written are checked.
function libraries(): Libraries {
  if (loaded !== undefined) return loaded;
  const require = createRequire(import.meta.url);
  const { analyse } = require('scslre') as typeof Scslre;
  loaded = { analyse, refa: require('refa') as typeof Refa };
  return loaded;
}

/** The longest time that the check of one expression and the checks of all expressions can take, in milliseconds. */
export interface CheckTime {
  readonly each: number;
  readonly all: number;
}

const CHECK_TIME: CheckTime = { each: 3000, all: 10_000 };

/**
 * Returns a function that describes why an expression can block the event loop and how to change that. It returns
 * undefined for an expression that takes linear time. If the check takes too long or does not support the expression,
 * the description says so.
 */
export function createSlownessCheck(time = CHECK_TIME): (source: string, flags: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  let left = time.all;
  return (source, flags) => {
    const key = `/${source}/${flags}`;
    if (known.has(key)) return known.get(key);
    // Loading the libraries does not count.
    libraries();
    const start = performance.now();
    const found = left < 1 ? 'unknown' : withTimeout(() => superLinear(source, flags), Math.min(time.each, left));
    left -= performance.now() - start;
    const description = found === undefined ? undefined : describe(source, found);
    known.set(key, description);
    return description;
  };
}

/** Returns the result of a calculation, or `unknown` if it fails or takes longer than the timeout in milliseconds. */
function withTimeout<T>(calculate: () => T, timeout: number): T | 'unknown' {
  try {
    // Node interrupts everything that the script calls.
    return runInNewContext('calculate()', { calculate }, { timeout: Math.ceil(timeout) }) as T;
  } catch {
    return 'unknown';
  }
}

function describe(source: string, found: SuperLinear | 'unknown'): string {
  if (found === 'unknown')
    return `the check cannot tell whether the pattern ${shortened(source)} can be slow; write a simpler one`;
  const grows =
    found.growth === 'exponential'
      ? 'takes time that grows exponentially with the length of a text'
      : 'takes time that grows at least with the square of the length of a text';
  return `the pattern ${shortened(source)} ${grows} that repeats ${JSON.stringify(found.word)}; rewrite it so that a text can match it in only one way`;
}

const LONGEST_SHOWN = 100;

const shortened = (source: string) =>
  source.length <= LONGEST_SHOWN ? source : `${source.slice(0, LONGEST_SHOWN - 1)}…`;

/**
 * Returns how an expression can take more than linear time, or undefined if it cannot. The engine tries every position
 * of the text in turn, so an expression that is linear at each position can still be quadratic as a whole. Throws an
 * Error if the expression contains a backreference that cannot be analyzed. The call itself can take long; see
 * {@link createSlownessCheck}.
 *
 * Scslre finds texts that repeat one character. The automaton below finds those that repeat a word.
 */
export function superLinear(source: string, flags: string): SuperLinear | undefined {
  const { analyse, refa } = libraries();
  const { reports } = analyse({ source, flags });
  const [report] = reports.toSorted((a, b) => Number(b.exponential) - Number(a.exponential));
  const found = report && toSuperLinear(report.exponential, report.character.pick);
  if (found?.growth === 'exponential') return found;
  const { expression, maxCharacter } = refa.JS.Parser.fromLiteral({ source, flags }).parse({
    assertions: 'parse',
    backreferences: 'throw',
  });
  const begins = flags.includes('y') ? [true] : [true, false];
  let polynomial = found;
  for (const atStart of begins) {
    const ambiguous = ambiguousWord(automaton(expression, refa.CharSet.all(maxCharacter), atStart));
    if (ambiguous?.growth === 'exponential') return ambiguous;
    polynomial ??= ambiguous;
  }
  return polynomial;
}

const toSuperLinear = (isExponential: boolean, word: string): SuperLinear => ({
  growth: isExponential ? 'exponential' : 'polynomial',
  word,
});

/** A state of an automaton, with the states that it reaches without a character and those that it reaches with one. */
interface State {
  readonly free: State[];
  readonly steps: Step[];
  /** The state in which the iteration began that ends here. The engine rejects the iteration if it has read nothing. */
  readonly began?: State;
  /** True if only some texts allow this state to be reached. */
  readonly isConditional?: boolean;
}

const newState = (more: Pick<State, 'began' | 'isConditional'> = {}): State => ({ free: [], steps: [], ...more });

interface Step {
  readonly set: CharSet;
  readonly to: State;
}

interface Automaton {
  readonly start: State;
  readonly end: State;
}

// More repetitions are treated like unlimited ones.
const MANY = 300;

/**
 * Returns an automaton for the attempts that begin at the start of the text, or for those that begin later. In the
 * latter case, the automaton first reads any text. A lookahead becomes a branch that may or may not be read, and so
 * does a lookbehind, except at the beginning, where it is read as the end of the text before the attempt.
 */
function automaton({ alternatives }: NoParent<Expression>, all: CharSet, atStart: boolean): Automaton {
  type Sequences = readonly { readonly elements: readonly NoParent<Element>[] }[];

  const sequences = (given: Sequences, from: State, isFirst: boolean): State => {
    const end = newState();
    for (const { elements } of given) {
      let [at, first] = [from, isFirst];
      for (const item of elements) {
        at = element(item, at, first);
        first &&= item.type === 'Assertion';
      }
      at.free.push(end);
    }
    return end;
  };

  /** Reads an iteration that the engine may omit. */
  const iteration = (given: Sequences, from: State, isFirst: boolean): State => {
    const begin = newState();
    const end = newState({ began: begin });
    from.free.push(begin);
    sequences(given, begin, isFirst).free.push(end);
    return end;
  };

  const before = (given: Sequences, negate: boolean, from: State): State => {
    if (!negate) return sequences(given, from, false);
    const [only] = given;
    const [character] = only?.elements ?? [];
    const end = newState();
    if (given.length > 1 || only?.elements.length !== 1 || character?.type !== 'CharacterClass') from.free.push(end);
    else from.steps.push({ set: character.characters.negate(), to: end });
    return end;
  };

  const element = (item: NoParent<Element>, from: State, isFirst: boolean): State => {
    switch (item.type) {
      case 'CharacterClass': {
        const end = newState();
        from.steps.push({ set: item.characters, to: end });
        return end;
      }
      case 'Alternation':
        return sequences(item.alternatives, from, isFirst);
      case 'Assertion': {
        if (isFirst && !atStart && item.kind === 'behind') return before(item.alternatives, item.negate, from);
        const end = newState({ isConditional: true });
        from.free.push(end);
        const isOneCharacter = item.alternatives.every(
          ({ elements }) => elements.length === 1 && elements[0]?.type === 'CharacterClass',
        );
        // The engine never returns into a lookaround, so a loop inside it cannot exchange characters with the rest.
        if (!isOneCharacter) sequences(item.alternatives, from, false);
        // The end of the text is a step that no character can take, so that what is before it does not count as a match.
        else if (item.kind === 'ahead' && item.negate && isEnd(item.alternatives)) {
          from.free.pop();
          from.steps.push({ set: all.negate(), to: end });
        }
        return end;
      }
      case 'Quantifier': {
        let at = from;
        const max = item.max > MANY ? Infinity : item.max;
        const min = Math.min(item.min, MANY);
        for (let count = 0; count < min; count += 1) at = sequences(item.alternatives, at, isFirst && count === 0);
        if (max === Infinity) {
          const loop = newState();
          at.free.push(loop);
          iteration(item.alternatives, loop, isFirst && min === 0).free.push(loop);
          return loop;
        }
        const end = newState();
        at.free.push(end);
        for (let count = min; count < max; count += 1) {
          at = iteration(item.alternatives, at, isFirst && count === 0);
          at.free.push(end);
        }
        return end;
      }
      case 'Unknown':
        break;
    }
    throw new Error(`an unknown element: ${item.type}`);
  };

  const isEnd = (given: Sequences) =>
    given.some(({ elements: [only] }) => only?.type === 'CharacterClass' && only.characters.isAll);

  const start = newState();
  if (!atStart) start.steps.push({ set: all, to: start });
  return { start, end: sequences(alternatives, start, true) };
}

/**
 * Returns a word that an automaton can read in more ways the more often it is repeated: it leads from one state back to
 * that state, from there to another one, and from that one back to itself (Weber and Seidl, 1991). If the other one
 * leads back to the first, the number of ways is exponential, as it is if a way through the word has several variants
 * that read the same. States from which the match has succeeded do not count, because the engine stops there.
 */
function ambiguousWord({ start, end }: Automaton): SuperLinear | undefined {
  const reached = reach([start]);
  const stepsOf = new Map([...reached].map((state) => [state, stepsFrom(state)]));
  const steps = (state: State): readonly Step[] => stepsOf.get(state) ?? [];
  const onLoops = [...reached].filter((state) => steps(state).some(({ to }) => reachesByStep(to, state, steps)));
  // Only the targets of steps are compared, because those joined by free steps are the same position of the text.
  const positions = new Set([start, ...[...reached].flatMap((state) => steps(state).map(({ to }) => to))]);
  const loops = onLoops.filter((state) => positions.has(state));
  const unfinished = loops.filter((state) => !reach([state], false).has(end));
  for (const state of unfinished) {
    const word = variedWord(state, steps);
    if (word !== undefined) return toSuperLinear(true, word);
  }
  const after = new Map(loops.map((state) => [state, reach([state])]));
  const leads = (from: State, to: State) => after.get(from)?.has(to) === true;
  for (const isExponential of [true, false])
    for (const q of unfinished)
      for (const p of loops) {
        if (p === q || !leads(p, q) || leads(q, p) !== isExponential) continue;
        const word = commonWord(p, q, steps);
        if (word !== undefined) return toSuperLinear(isExponential, word);
      }
  return undefined;
}

/** Returns a word that leads from a state back to it and whose first character can be reached in several ways. */
function variedWord(state: State, steps: (state: State) => readonly Step[]): string | undefined {
  const once = new Set<Step>();
  const twice = new Set<Step>();
  const path = new Set<State>();
  const walk = (at: State): void => {
    if (at.began !== undefined && path.has(at.began)) return;
    path.add(at);
    for (const step of at.steps) (once.has(step) ? twice : once).add(step);
    for (const next of at.free) if (next.isConditional !== true) walk(next);
    path.delete(at);
  };
  walk(state);
  for (const { set, to } of twice) {
    const rest = set.isEmpty ? undefined : wordTo(to, state, steps);
    if (rest !== undefined) return characterIn(set) + rest;
  }
  return undefined;
}

/** Returns a shortest word that leads from a state to another one. */
function wordTo(from: State, to: State, steps: (state: State) => readonly Step[]): string | undefined {
  const words = new Map([[from, '']]);
  for (const [state, word] of words) {
    if (state === to) return word;
    for (const step of steps(state))
      if (!step.set.isEmpty && !words.has(step.to)) words.set(step.to, word + characterIn(step.set));
  }
  return undefined;
}

const characterIn = (set: CharSet): string => String.fromCodePoint(set.ranges[0]?.min ?? 0);

/** Returns a word that leads from `p` to `p`, from `p` to `q`, and from `q` to `q`. */
function commonWord(p: State, q: State, steps: (state: State) => readonly Step[]): string | undefined {
  const ids = new Map<State, number>();
  const id = (state: State) => ids.get(state) ?? (ids.set(state, ids.size), ids.size - 1);
  const seen = new Set<string>();
  let ahead: { readonly at: readonly [State, State, State]; readonly word: string }[] = [{ at: [p, p, q], word: '' }];
  while (ahead.length > 0) {
    const next: typeof ahead = [];
    for (const { at, word } of ahead) {
      for (const first of steps(at[0]))
        for (const second of steps(at[1])) {
          const two = first.set.intersect(second.set);
          if (two.isEmpty) continue;
          for (const third of steps(at[2])) {
            const three = two.intersect(third.set);
            if (three.isEmpty) continue;
            const to = [first.to, second.to, third.to] as const;
            const key = to.map(id).join(' ');
            if (seen.has(key)) continue;
            seen.add(key);
            const longer = word + characterIn(three);
            if (to[0] === p && to[1] === q && to[2] === q) return longer;
            next.push({ at: to, word: longer });
          }
        }
    }
    ahead = next;
  }
  return undefined;
}

/** Returns the states that can be reached, with or without reading characters. */
function reach(from: readonly State[], reading = true): Set<State> {
  const found = new Set(from);
  for (const { free, steps } of found) {
    for (const to of free) found.add(to);
    if (reading) for (const { to } of steps) found.add(to);
  }
  return found;
}

const stepsFrom = (state: State): readonly Step[] => [...reach([state], false)].flatMap(({ steps }) => steps);

function reachesByStep(from: State, to: State, steps: (state: State) => readonly Step[]): boolean {
  const found = new Set([from]);
  for (const state of found) for (const step of steps(state)) found.add(step.to);
  return found.has(to);
}
