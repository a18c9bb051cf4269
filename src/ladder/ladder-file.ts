import { readFileSync, type Stats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { IN_MEMORY, replaceFile } from '../files/replace-file.ts';
import { LADDER_CHECKS, type LadderState, type LadderStep } from './ladder-step.ts';

/** Where the ladder's state outlives the process. */
export interface LadderFile {
  /** Writes behind the caller's back: the latest state wins, and never two at once. */
  write(state: LadderState): void;
  /** Resolves once the latest state is written, or could not be. */
  written(): Promise<void>;
  /** Looks whether somebody else has changed the file; what they took out of it is told. */
  look(): Promise<void>;
}

/** Whom the writer of the ladder's file tells. */
export interface LadderFileEvents {
  readonly onError: (error: unknown) => void;
  /** A step that was in the file is no longer there. */
  readonly onTakenOut: (step: LadderStep) => void;
}

/** Reads the ladder's file; undefined where there is none. Throws an Error that says what is wrong with one that is broken. */
export function readLadderFile(file: string): LadderState | undefined {
  if (file === IN_MEMORY) return undefined;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Where no file can be, there is none; that nothing can be written there is told apart.
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Error(`it cannot be read (${code ?? 'unknown'})`, { cause: error });
  }
  return parseLadder(text);
}

/** Writes the ladder's file in one step, so that a reader sees the old text or the new one; only its owner may read it. */
export async function writeLadderFile(file: string, state: LadderState): Promise<void> {
  if (file === IN_MEMORY) return;
  await replaceFile(file, formatLadder(state), 0o600);
}

/** Creates the writer of a file that holds `known`; what cannot be written is told and stays in memory. */
export function createLadderFile(file: string, known: LadderState | undefined, events: LadderFileEvents): LadderFile {
  let waiting: LadderState | undefined;
  let writing: Promise<void> | undefined;
  let last = known;
  let seen = file === IN_MEMORY ? undefined : stampOf(statSync(file, { throwIfNoEntry: false }));
  const look = async () => {
    if (file === IN_MEMORY) return;
    const stamp = stampOf(await stat(file).catch(() => undefined));
    if (stamp === undefined || stamp === seen) return;
    seen = stamp;
    try {
      const found = readLadderFile(file);
      if (found === undefined || found.contract !== last?.contract) return;
      const held = new Set(found.steps.map(nameOf));
      const taken = last.steps.filter((step) => !held.has(nameOf(step)));
      last = found;
      taken.forEach(events.onTakenOut);
    } catch (error) {
      events.onError(error);
    }
  };
  const work = async () => {
    while (waiting !== undefined) {
      // Before it is overwritten, so that what an operator took out stays out.
      await look();
      const state = waiting;
      waiting = undefined;
      try {
        await writeLadderFile(file, state);
        last = state;
        seen = stampOf(await stat(file).catch(() => undefined));
      } catch (error) {
        events.onError(error);
      }
    }
    writing = undefined;
  };
  return {
    write(state) {
      waiting = state;
      writing ??= work();
    },
    written: async () => writing,
    look: async () => {
      await writing;
      await look();
    },
  };
}

const nameOf = ({ operation, check, move, at }: LadderStep) => `${operation} ${check} ${move} ${at}`;

/** What tells one version of a file from the next: every writer puts a new file in the place of the old one. */
function stampOf(stats: Stats | undefined): string | undefined {
  return stats === undefined ? undefined : `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
}

const MOVES = ['promoted', 'demoted', 'lifted'] as const;
/** More than any contract has rungs; a longer file was not written by Portico. */
const MAX_STEPS = 10_000;

/** The text of the ladder's file: JSON that a person can read. */
export function formatLadder({ contract, since, steps }: LadderState): string {
  const written = steps.map((step) => ({ ...step, at: new Date(step.at).toISOString() }));
  return `${JSON.stringify({ version: 1, contract, since: new Date(since).toISOString(), steps: written }, null, 2)}\n`;
}

/** Reads the text of the ladder's file; throws an Error that says what is wrong with it. */
export function parseLadder(text: string): LadderState {
  const { version, contract, since, steps } = objectOf(jsonOf(text), 'the file');
  if (version !== 1) throw new Error('version must be 1');
  if (typeof contract !== 'string' || contract === '') throw new Error('contract must be a text');
  if (!Array.isArray(steps) || steps.length > MAX_STEPS) throw new Error('steps must be a list');
  const read = steps.map((step: unknown, index) => toStep(step, `steps[${index}]`));
  const rungs = new Set(read.map(({ operation, check }) => `${operation} ${check}`));
  if (rungs.size < read.length) throw new Error('steps names a check of an operation twice');
  return { contract, since: instantOf(since, 'since'), steps: read };
}

function toStep(value: unknown, place: string): LadderStep {
  const { operation, check, move, at, judged, failed, windowSeconds } = objectOf(value, place);
  const known = {
    check: LADDER_CHECKS.find((name) => name === check),
    move: MOVES.find((name) => name === move),
  };
  if (typeof operation !== 'string' || operation === '') throw new Error(`${place}.operation must be a text`);
  if (known.check === undefined) throw new Error(`${place}.check is no check of the ladder`);
  if (known.move === undefined) throw new Error(`${place}.move must be one of ${MOVES.join(', ')}`);
  if (known.move === 'demoted' && known.check !== 'responses')
    throw new Error(`${place} demotes ${known.check}, but only responses is ever demoted`);
  return {
    operation,
    check: known.check,
    move: known.move,
    at: instantOf(at, `${place}.at`),
    judged: countOf(judged, `${place}.judged`),
    failed: countOf(failed, `${place}.failed`),
    windowSeconds: countOf(windowSeconds, `${place}.windowSeconds`),
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error('it is no JSON');
  }
}

function objectOf(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${place} must be an object`);
  return value as Readonly<Record<string, unknown>>;
}

function instantOf(value: unknown, place: string): number {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at)) throw new Error(`${place} must be an instant`);
  return at;
}

function countOf(value: unknown, place: string): number {
  if (typeof value !== 'number' || !(value >= 0)) throw new Error(`${place} must be a number`);
  return value;
}
