import { parseSync } from 'vite';
import { CharSet, JS, type NoParent, type Element, type Expression } from 'refa';
import { analyse } from 'scslre';
import type { SourceFile } from '../../tools/structure.ts';

/** A regular expression in a source file. */
interface Pattern {
  readonly source: string;
  readonly flags: string;
  readonly line: number;
}

/** Returns the regular expression literals of a source file. */
export function patternsOf({ path, text }: SourceFile): Pattern[] {
  const found: Pattern[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('regex' in node && 'start' in node) {
      const { pattern, flags } = node.regex as { readonly pattern: string; readonly flags: string };
      const line = text.slice(0, Number(node.start)).split('\n').length;
      found.push({ source: pattern, flags, line });
      return;
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseSync(path, text).program);
  return found;
}

/**
 * Returns why matching an expression can take more than linear time, or undefined if it cannot. The engine tries every
 * position of the text in turn, so an expression that is linear at each position can still be quadratic as a whole.
 *
 * Scslre finds texts that repeat one character. The automaton below finds those that repeat a word.
 */
export function superLinear(source: string, flags: string): string | undefined {
  const [report] = analyse({ source, flags }).reports;
  if (report) return `repeating ${JSON.stringify(report.character.pick)}`;
  const parser = JS.Parser.fromLiteral({ source, flags });
  const { expression, maxCharacter } = parser.parse({ assertions: 'parse', backreferences: 'throw' });
  const begins = flags.includes('y') ? [true] : [true, false];
  for (const atStart of begins) {
    const word = ambiguousWord(automaton(expression, CharSet.all(maxCharacter), atStart));
    if (word !== undefined) return `repeating ${JSON.stringify(word)}`;
  }
  return undefined;
}

/** A state of an automaton, with the states that it reaches without a character and those that it reaches with one. */
interface State {
  readonly free: State[];
  readonly steps: Step[];
}

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
  const state = (): State => ({ free: [], steps: [] });
  type Sequences = readonly { readonly elements: readonly NoParent<Element>[] }[];

  const sequences = (given: Sequences, from: State, isFirst: boolean): State => {
    const end = state();
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

  const before = (given: Sequences, negate: boolean, from: State): State => {
    if (!negate) return sequences(given, from, false);
    const [only] = given;
    const [character] = only?.elements ?? [];
    const end = state();
    if (given.length > 1 || only?.elements.length !== 1 || character?.type !== 'CharacterClass') from.free.push(end);
    else from.steps.push({ set: character.characters.negate(), to: end });
    return end;
  };

  const element = (item: NoParent<Element>, from: State, isFirst: boolean): State => {
    switch (item.type) {
      case 'CharacterClass': {
        const end = state();
        from.steps.push({ set: item.characters, to: end });
        return end;
      }
      case 'Alternation':
        return sequences(item.alternatives, from, isFirst);
      case 'Assertion': {
        if (isFirst && !atStart && item.kind === 'behind') return before(item.alternatives, item.negate, from);
        const end = state();
        from.free.push(end);
        const isOneCharacter = item.alternatives.every(
          ({ elements }) => elements.length === 1 && elements[0]?.type === 'CharacterClass',
        );
        // The engine never returns into a lookaround, so a loop inside it cannot exchange characters with the rest.
        if (!isOneCharacter) sequences(item.alternatives, from, false);
        // The end of the text is a step that no character can take, so that what is before it does not count as a match.
        else if (item.kind === 'ahead' && item.negate && isEnd(item.alternatives)) {
          from.free.pop();
          from.steps.push({ set: CharSet.empty(all.maximum), to: end });
        }
        return end;
      }
      case 'Quantifier': {
        let at = from;
        const max = item.max > MANY ? Infinity : item.max;
        const min = Math.min(item.min, MANY);
        for (let count = 0; count < min; count += 1) at = sequences(item.alternatives, at, isFirst && count === 0);
        if (max === Infinity) {
          const loop = state();
          at.free.push(loop);
          sequences(item.alternatives, loop, isFirst && min === 0).free.push(loop);
          return loop;
        }
        const end = state();
        at.free.push(end);
        for (let count = min; count < max; count += 1) {
          at = sequences(item.alternatives, at, isFirst && count === 0);
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

  const start = state();
  if (!atStart) start.steps.push({ set: all, to: start });
  return { start, end: sequences(alternatives, start, true) };
}

/**
 * Returns a word that an automaton can read in more ways the more often it is repeated: it leads from one state back to
 * that state, from there to another one, and from that one back to itself (Weber and Seidl, 1991). States from which
 * the match has succeeded do not count, because the engine stops there.
 */
function ambiguousWord({ start, end }: Automaton): string | undefined {
  const reached = reach([start]);
  const stepsOf = new Map([...reached].map((state) => [state, stepsFrom(state)]));
  const steps = (state: State): readonly Step[] => stepsOf.get(state) ?? [];
  const onLoops = [...reached].filter((state) => steps(state).some(({ to }) => reachesByStep(to, state, steps)));
  // Only the targets of steps are compared, because those joined by free steps are the same position of the text.
  const positions = new Set([start, ...[...reached].flatMap((state) => steps(state).map(({ to }) => to))]);
  const loops = onLoops.filter((state) => positions.has(state));
  for (const q of loops) {
    if (reach([q], false).has(end)) continue;
    for (const p of loops) {
      if (p === q || !reach([p]).has(q)) continue;
      const word = commonWord(p, q, steps);
      if (word !== undefined) return word;
    }
  }
  return undefined;
}

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
            const longer = word + String.fromCodePoint(three.ranges[0]?.min ?? 0);
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
