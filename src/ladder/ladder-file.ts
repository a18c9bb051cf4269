import { readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { LadderState } from './ladder-step.ts';
import { formatLadder, parseLadder } from './ladder-text.ts';

/** The path that keeps nothing. */
export const IN_MEMORY = ':memory:';

/** Where the ladder's state outlives the process. */
export interface LadderFile {
  /** Writes behind the caller's back: the latest state wins, and never two at once. */
  write(state: LadderState): void;
  /** Resolves once the latest state is written, or could not be. */
  written(): Promise<void>;
}

/** Reads the ladder's file; undefined where there is none. Throws an Error that says what is wrong with one that is broken. */
export function readLadderFile(file: string): LadderState | undefined {
  if (file === IN_MEMORY) return undefined;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`it cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`, { cause: error });
  }
  return parseLadder(text);
}

/** Makes the folder of the file and tries to write there; answers why that fails, or undefined. */
export async function whyUnwritable(file: string): Promise<string | undefined> {
  if (file === IN_MEMORY) return undefined;
  const tried = unfinishedName(file);
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(tried, '', { mode: 0o600 });
    await rm(tried, { force: true });
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}

const unfinishedName = (file: string) => `${file}.${process.pid}.tmp`;

/** Writes the ladder's file in one step, so that a reader sees the old text or the new one; only its owner may read it. */
export async function writeLadderFile(file: string, state: LadderState): Promise<void> {
  if (file === IN_MEMORY) return;
  const unfinished = unfinishedName(file);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  try {
    await writeFile(unfinished, formatLadder(state), { mode: 0o600, flush: true });
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Creates the writer of a file; what cannot be written is told to `onError` and stays in memory. */
export function createLadderFile(file: string, onError: (error: unknown) => void): LadderFile {
  let waiting: LadderState | undefined;
  let writing: Promise<void> | undefined;
  const work = async () => {
    while (waiting !== undefined) {
      const state = waiting;
      waiting = undefined;
      await writeLadderFile(file, state).catch(onError);
    }
    writing = undefined;
  };
  return {
    write(state) {
      waiting = state;
      writing ??= work();
    },
    written: async () => writing,
  };
}
