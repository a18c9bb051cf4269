import { readFileSync, type Stats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { IN_MEMORY } from '../files/in-memory.ts';
import { replaceFile } from '../files/replace-file.ts';
import type { LadderState, LadderStep } from './ladder-step.ts';
import { formatLadder, parseLadder } from './ladder-text.ts';

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
