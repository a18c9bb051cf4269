import { type Stats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { IN_MEMORY, replaceFile } from '../../../lib/replace-file.ts';
import { instantOf, objectOf, parseState, readIfExists } from '../../../lib/state-file.ts';
import { mergeItems } from '../../../engine/sharing/merge-items.ts';
import { LADDER_CHECKS, type LadderState, type LadderStep } from './ladder-step.ts';

/** Stores the ladder's state so that it survives restarts. */
export interface LadderFile {
  /** Writes the state in the background. Only one write runs at a time, and only the latest state is written. */
  write(state: LadderState): void;
  /** Waits until the latest state has been written or the write has failed. */
  written(): Promise<void>;
  /** Checks whether another process has changed the file, and reports the steps that it removed. */
  checkForChanges(): Promise<void>;
}

/** Callbacks for events that affect the ladder file. */
interface LadderFileEvents {
  readonly onError: (error: unknown) => void;
  /** Called when another process has removed a step from the file. */
  readonly onRemoved: (step: LadderStep) => void;
}

/** Reads the ladder file. Returns undefined if the file does not exist. Throws an error if the file is invalid. */
export function readLadderFile(file: string): LadderState | undefined {
  if (file === IN_MEMORY) return undefined;
  const text = readIfExists(file);
  return text === undefined ? undefined : parseLadder(text);
}

/** Replaces the ladder's file atomically. The file is readable only by its owner. */
export async function writeLadderFile(file: string, state: LadderState): Promise<void> {
  if (file === IN_MEMORY) return;
  await replaceFile(file, formatLadder(state), 0o600);
}

/**
 * Creates the writer for the ladder file. `known` is the file's current content. If the state cannot be written, the
 * failure is reported and the state remains only in memory.
 */
export function createLadderFile(file: string, known: LadderState | undefined, events: LadderFileEvents): LadderFile {
  let waiting: LadderState | undefined;
  let writing: Promise<void> | undefined;
  let last = known;
  let seen = file === IN_MEMORY ? undefined : stampOf(statSync(file, { throwIfNoEntry: false }));
  const checkForChanges = async () => {
    if (file === IN_MEMORY) return;
    const stamp = stampOf(await stat(file).catch(() => undefined));
    if (stamp === undefined || stamp === seen) return;
    seen = stamp;
    try {
      const found = readLadderFile(file);
      if (found === undefined || found.contract !== last?.contract) return;
      const remaining = new Set(found.steps.map(idOf));
      const removed = last.steps.filter((step) => !remaining.has(idOf(step)));
      last = found;
      removed.forEach(events.onRemoved);
    } catch (error) {
      events.onError(error);
    }
  };
  const work = async () => {
    while (waiting !== undefined) {
      // This check precedes the write, so that steps removed by an operator stay removed.
      await checkForChanges();
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
    checkForChanges: async () => {
      await writing;
      await checkForChanges();
    },
  };
}

const idOf = ({ operation, check, move, at }: LadderStep) => `${operation} ${check} ${move} ${at}`;

/**
 * Returns a string that identifies a version of the file. It changes with every write, because every writer replaces
 * the file with a new one.
 */
function stampOf(stats: Stats | undefined): string | undefined {
  return stats === undefined ? undefined : `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
}

const MOVES = ['promoted', 'demoted', 'lifted'] as const;
/** The maximum number of steps. No contract needs this many. */
const MAX_STEPS = 10_000;

/** Formats the ladder file's content as indented JSON. */
export function formatLadder({ contract, since, steps }: LadderState): string {
  const written = steps.map((step) => ({ ...step, at: new Date(step.at).toISOString() }));
  return `${JSON.stringify({ version: 1, contract, since: new Date(since).toISOString(), steps: written }, null, 2)}\n`;
}

/** Parses the ladder file's content. If it is invalid, throws an error that describes the problem. */
export function parseLadder(text: string): LadderState {
  const { version, contract, since, steps } = parseState(text);
  if (version !== 1) throw new Error('version must be 1');
  if (typeof contract !== 'string' || contract === '') throw new Error('contract must be text');
  if (!Array.isArray(steps) || steps.length > MAX_STEPS) throw new Error('steps must be a list');
  const read = steps.map((step: unknown, index) => toStep(step, `steps[${index}]`));
  const checks = new Set(read.map(({ operation, check }) => `${operation} ${check}`));
  if (checks.size < read.length) throw new Error('steps contains two entries for the same check of an operation');
  return { contract, since: instantOf(since, 'since'), steps: read };
}

/** The document through which a fleet's gateways share the state in Redis. Each contract has its own document. */
export const LADDER_DOCUMENT = { name: 'ladder', format: formatLadder, parse: parseLadder, merge: mergeLadders };

/**
 * Merges this gateway's steps since `base` into the state that all gateways share. If both sides have a new step for
 * the same check, a demotion takes precedence because it is safer.
 */
function mergeLadders(base: LadderState, mine: LadderState, theirs: LadderState): LadderState {
  const lists = { base: base.steps, mine: mine.steps, theirs: theirs.steps };
  const steps = mergeItems(
    lists,
    ({ operation, check }) => `${operation} ${check}`,
    (here, there) => (here?.move === 'demoted' && there?.move !== 'demoted' ? here : there),
  );
  return { contract: theirs.contract, since: Math.min(mine.since, theirs.since), steps };
}

function toStep(value: unknown, place: string): LadderStep {
  const { operation, check, move, at, judged, failed, windowSeconds } = objectOf(value, place);
  const known = {
    check: LADDER_CHECKS.find((name) => name === check),
    move: MOVES.find((name) => name === move),
  };
  if (typeof operation !== 'string' || operation === '') throw new Error(`${place}.operation must be text`);
  if (known.check === undefined) throw new Error(`${place}.check is not a check of the ladder`);
  if (known.move === undefined) throw new Error(`${place}.move must be one of ${MOVES.join(', ')}`);
  if (known.move === 'demoted' && known.check !== 'responses')
    throw new Error(`${place} demotes ${known.check}, but only responses can be demoted`);
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

function countOf(value: unknown, place: string): number {
  if (typeof value !== 'number' || !(value >= 0)) throw new Error(`${place} must be a number`);
  return value;
}
