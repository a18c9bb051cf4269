import { type Stats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { IN_MEMORY, replaceFile } from '../../lib/replace-file.ts';
import { instantOf, objectOf, parseVersionedState, readIfExists } from '../../lib/state-file.ts';
import type { PlainObject } from '../../lib/plain-object.ts';
import { OPERATION_CHECKS } from '../../engine/model/checks.ts';
import {
  type ContractUse,
  isOfLadder,
  keyOf,
  type LadderEntry,
  type LevelEntry,
  type LevelsState,
  MOVES,
  type OverrideEntry,
} from './level-entry.ts';
import { MAX_OVERRIDE_HOURS } from './options.ts';
import { readOverride } from './read-override.ts';

/** Stores the state of the levels so that it survives restarts. */
export interface LevelsFile {
  /**
   * Writes the state in the background, once `recorded` resolves, so that a crash cannot leave an override without an
   * entry in the audit trail. Only one write runs at a time, and only the latest state is written. `recorded` resolves
   * to false if there is no entry.
   */
  write(state: LevelsState, recorded?: Promise<boolean>): void;
  /** Waits until all writes have succeeded or failed. Returns false if the latest write failed. */
  written(): Promise<boolean>;
  /** Checks whether another process has changed the file, and reports the ladder's decisions that it removed. */
  checkForChanges(): Promise<void>;
}

/** Callbacks for events that affect the file. */
interface LevelsFileEvents {
  readonly onError: (error: unknown) => void;
  /** Called when another process has removed a decision of the ladder from the file. */
  readonly onRemoved: (entry: LadderEntry) => void;
  /** Returns the state that the file should contain. */
  readonly current: () => LevelsState;
}

/** Reads the file. Returns undefined if it does not exist. Throws an error if it is invalid. */
export function readLevelsFile(file: string): LevelsState | undefined {
  const text = file === IN_MEMORY ? undefined : readIfExists(file);
  return text === undefined ? undefined : parseLevels(text);
}

/** Replaces the file atomically. It is readable only by its owner, because it contains operators' names. */
export async function writeLevelsFile(file: string, state: LevelsState): Promise<void> {
  if (file !== IN_MEMORY) await replaceFile(file, formatLevels(state), 0o600);
}

/**
 * Creates the writer. `known` is the file's current content. If the state cannot be written, the failure is reported and
 * the state remains only in memory.
 */
export function createLevelsFile(file: string, known: LevelsState | undefined, events: LevelsFileEvents): LevelsFile {
  const inMemory = file === IN_MEMORY;
  let waiting: { readonly state: LevelsState; readonly recorded: readonly Promise<boolean>[] } | undefined;
  let writing: Promise<void> | undefined;
  let isStored = true;
  let last = known;
  let seen = inMemory ? undefined : stampOf(statSync(file, { throwIfNoEntry: false }));
  /** Returns true if another process has changed the file, so that it must be written again. */
  const followChanges = async (): Promise<boolean> => {
    if (inMemory) return false;
    const stamp = stampOf(await stat(file).catch(() => undefined));
    if (stamp === undefined || stamp === seen) return false;
    seen = stamp;
    try {
      const found = readLevelsFile(file);
      if (found === undefined) return false;
      const remaining = new Set(found.entries.filter(isOfLadder).map(idOf));
      const contracts = new Set(found.contracts.map(({ contract }) => contract));
      const removed = (last?.entries ?? [])
        .filter(isOfLadder)
        .filter((entry) => contracts.has(entry.contract) && !remaining.has(idOf(entry)));
      last = found;
      for (const entry of removed) events.onRemoved(entry);
      return true;
    } catch (error) {
      events.onError(error);
      return false;
    }
  };
  const work = async () => {
    while (waiting !== undefined) {
      // This check precedes the write, so that decisions removed by an operator stay removed.
      await followChanges();
      const { state, recorded } = waiting;
      waiting = undefined;
      const isRecorded = (await Promise.all(recorded)).every(Boolean);
      try {
        await writeLevelsFile(file, state);
        last = state;
        seen = inMemory ? undefined : stampOf(await stat(file).catch(() => undefined));
        isStored = isRecorded;
      } catch (error) {
        events.onError(error);
        isStored = false;
      }
    }
    writing = undefined;
  };
  const write: LevelsFile['write'] = (state, recorded) => {
    waiting = { state, recorded: [...(waiting?.recorded ?? []), ...(recorded === undefined ? [] : [recorded])] };
    writing ??= work();
  };
  return {
    write,
    async written() {
      await writing;
      return isStored;
    },
    async checkForChanges() {
      await writing;
      // A process without the gateway's memory may have written an older state of the overrides.
      if (await followChanges()) write(events.current());
      await writing;
    },
  };
}

const idOf = (entry: LadderEntry) => `${keyOf(entry)} ${entry.move} ${entry.since}`;

/**
 * Returns a string that identifies a version of the file. It changes with every write, because every writer replaces
 * the file with a new one.
 */
function stampOf(stats: Stats | undefined): string | undefined {
  return stats === undefined ? undefined : `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
}

/** The maximum number of entries. No contract needs this many. */
const MAX_ENTRIES = 10_000;

/** Formats the file's content as indented JSON. */
export function formatLevels({ contracts, entries }: LevelsState): string {
  const written = {
    version: 1,
    contracts: contracts.map(({ contract, since }) => ({ contract, since: isoOf(since) })),
    entries: entries.map(entryJson),
  };
  return `${JSON.stringify(written, null, 2)}\n`;
}

/** Converts an entry to JSON. Instants are in ISO 8601 format. */
export function entryJson(entry: LevelEntry) {
  const since = isoOf(entry.since);
  return entry.source === 'ladder' ? { ...entry, since } : { ...entry, since, until: isoOf(entry.until) };
}

/** Formats an instant. */
export const isoOf = (instant: number): string => new Date(instant).toISOString();

/** Parses the file's content. If it is invalid, throws an error that describes the problem. */
export function parseLevels(text: string): LevelsState {
  const { contracts, entries } = parseVersionedState(text);
  if (!Array.isArray(contracts)) throw new Error('contracts must be a list');
  if (!Array.isArray(entries) || entries.length > MAX_ENTRIES) throw new Error('entries must be a list');
  const state = {
    contracts: contracts.map((value: unknown, index) => toContractUse(value, `contracts[${index}]`)),
    entries: entries.map((value: unknown, index) => toEntry(value, `entries[${index}]`)),
  };
  requireDistinct(state.entries, 'entries');
  return state;
}

/** Throws an error if two entries are about the same subject. */
export function requireDistinct(entries: readonly LevelEntry[], list: string): void {
  if (new Set(entries.map(keyOf)).size < entries.length)
    throw new Error(`${list} contains two entries for the same check of an operation`);
}

function toContractUse(value: unknown, place: string): ContractUse {
  const { contract, since } = objectOf(value, place);
  if (typeof contract !== 'string' || contract === '') throw new Error(`${place}.contract must be text`);
  return { contract, since: instantOf(since, `${place}.since`) };
}

function toEntry(value: unknown, place: string): LevelEntry {
  const { source, ...members } = objectOf(value, place);
  if (source === 'ladder') return toLadderEntry(members, place);
  if (source === 'operator') return toOverrideEntry(members, place);
  throw new Error(`${place}.source must be ladder or operator`);
}

/** Reads a decision of the ladder. */
export function toLadderEntry(members: PlainObject, place: string): LadderEntry {
  const { operation, check, move, since, judged, failed, windowSeconds, contract } = members;
  const known = {
    check: OPERATION_CHECKS.find((name) => name === check),
    move: MOVES.find((name) => name === move),
  };
  if (typeof operation !== 'string' || operation === '') throw new Error(`${place}.operation must be text`);
  if (known.check === undefined) throw new Error(`${place}.check is not a check of the ladder`);
  if (known.move === undefined) throw new Error(`${place}.move must be one of ${MOVES.join(', ')}`);
  if (known.move === 'demoted' && known.check !== 'responses')
    throw new Error(`${place} demotes ${known.check}, but only responses can be demoted`);
  if (typeof contract !== 'string' || contract === '') throw new Error(`${place}.contract must be text`);
  return {
    source: 'ladder',
    operation,
    kind: 'level',
    check: known.check,
    move: known.move,
    since: instantOf(since, `${place}.since`),
    judged: countOf(judged, `${place}.judged`),
    failed: countOf(failed, `${place}.failed`),
    windowSeconds: countOf(windowSeconds, `${place}.windowSeconds`),
    contract,
  };
}

/** Reads an operator's entry. It must follow the rules for requests, so that the file is no way around them. */
export function toOverrideEntry({ since, from, ...request }: PlainObject, place: string): OverrideEntry {
  const { operation } = request;
  const at = instantOf(since, `${place}.since`);
  if (typeof operation !== 'string') throw new Error(`${place}.operation must be text`);
  // The contract may have changed since the override was stored, and may no longer contain the operation.
  const rules = { operations: [operation], factsOf: () => undefined, maxHours: MAX_OVERRIDE_HOURS };
  const read = readOverride(request, rules, at);
  if ('operation' in read)
    return { ...read, source: 'operator', from: typeof from === 'string' ? from : undefined, since: at };
  throw new Error(read.map(({ field, message }) => `${place}.${field}: ${message}`).join(' '));
}

function countOf(value: unknown, place: string): number {
  if (typeof value !== 'number' || !(value >= 0)) throw new Error(`${place} must be a number`);
  return value;
}
