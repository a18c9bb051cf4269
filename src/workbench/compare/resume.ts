import { replaceFileSync } from '../../lib/replace-file.ts';
import { objectOf, parseObject, readIfExists } from '../../lib/state-file.ts';
import type { SavedComparison } from '../../comparison/comparator.ts';
import type { TallyState } from './tally.ts';

/** What a comparison that was interrupted needs to continue. */
export interface CompareState {
  readonly subject: CompareSubject;
  /** Where the source continues. */
  readonly position: unknown;
  /** The targets that the source had supplied, but that were not counted yet. */
  readonly unfinished: readonly string[];
  readonly tally: TallyState;
  /** What was compared, what is known of ids, and the lists of which not all pages were seen. */
  readonly comparison: SavedComparison;
}

/** What is compared, by the names of the arguments. A state of another comparison cannot be used. */
export type CompareSubject = Readonly<Record<string, string>>;

const VERSION = 4;

/** Reads the state. Returns undefined if there is none. Throws an Error that says why it cannot be used. */
export function readCompareState(file: string, subject: CompareSubject): CompareState | undefined {
  const text = readIfExists(file);
  if (text === undefined) return undefined;
  const state = parseObject(text);
  if (state['version'] !== VERSION) throw new Error('it was written by another version');
  const saved = objectOf(state['subject'], 'subject');
  const others = Object.keys(subject).filter((name) => saved[name] !== subject[name]);
  if (others.length > 0)
    throw new Error(`it belongs to another comparison (${others.join(', ')}): delete it, or name another file`);
  objectOf(state['tally'], 'tally');
  objectOf(state['comparison'], 'comparison');
  return state as unknown as CompareState;
}

/** Replaces the state. Only this user can read it. */
export function writeCompareState(file: string, state: CompareState): void {
  replaceFileSync(file, `${JSON.stringify({ version: VERSION, ...state })}\n`, 0o600);
}
