import { instantOf, objectOf, parseVersionedState, readIfExists } from '../../lib/state-file.ts';
import { isOfLadder, isOverride, type LevelEntry, type LevelsState } from './level-entry.ts';
import { isoOf, requireDistinct, toLadderEntry, toOverrideEntry } from './levels-file.ts';

/**
 * The two forms in which earlier versions stored levels, in files and as documents in Redis: the ladder's decisions under
 * one contract, and the operators' overrides.
 */

/** Reads a file of the ladder as an earlier version wrote it. Undefined if it does not exist. Throws if it is invalid. */
export function readFormerLadder(file: string): LevelsState | undefined {
  const text = readIfExists(file);
  return text === undefined ? undefined : parseFormerLadder(text);
}

/** Reads a file of overrides as an earlier version wrote it. Undefined if it does not exist. Throws if it is invalid. */
export function readFormerOverrides(file: string): readonly LevelEntry[] | undefined {
  const text = readIfExists(file);
  return text === undefined ? undefined : parseFormerOverrides(text);
}

/** Parses the ladder's state. If it is invalid, throws an error that describes the problem. */
export function parseFormerLadder(text: string): LevelsState {
  const { contract, since, steps } = parseVersionedState(text);
  if (typeof contract !== 'string' || contract === '') throw new Error('contract must be text');
  if (!Array.isArray(steps)) throw new Error('steps must be a list');
  const entries = steps.map((step: unknown, index) => {
    const place = `steps[${index}]`;
    const { at, ...members } = objectOf(step, place);
    return toLadderEntry({ ...members, since: isoOf(instantOf(at, `${place}.at`)), contract }, place);
  });
  requireDistinct(entries, 'steps');
  return { contracts: [{ contract, since: instantOf(since, 'since') }], entries };
}

/** Formats the decisions under one contract as an earlier version does. */
export function formatFormerLadder({ contracts, entries }: LevelsState): string {
  const [{ contract, since } = { contract: '', since: 0 }] = contracts;
  const steps = entries
    .filter(isOfLadder)
    .map(({ operation, check, move, since: at, judged, failed, windowSeconds }) => ({
      operation,
      check,
      move,
      at: isoOf(at),
      judged,
      failed,
      windowSeconds,
    }));
  return `${JSON.stringify({ version: 1, contract, since: isoOf(since), steps }, null, 2)}\n`;
}

/** Parses the overrides. If they are invalid, throws an error that describes the problem. */
export function parseFormerOverrides(text: string): readonly LevelEntry[] {
  const { overrides } = parseVersionedState(text);
  if (!Array.isArray(overrides)) throw new Error('overrides must be a list');
  return overrides.map((value: unknown, index) => {
    const place = `overrides[${index}]`;
    const { setAt, ...members } = objectOf(value, place);
    return toOverrideEntry({ ...members, since: isoOf(instantOf(setAt, `${place}.setAt`)) }, place);
  });
}

/** Formats the overrides as an earlier version does. */
export function formatFormerOverrides(entries: readonly LevelEntry[]): string {
  return `${JSON.stringify({ version: 1, overrides: entries.filter(isOverride).map(overrideJson) }, null, 2)}\n`;
}

/** Converts an override to JSON as it is shown to operators. Instants are in ISO 8601 format. */
export function overrideJson(entry: Extract<LevelEntry, { source: 'operator' }>) {
  const { source: _, since, until, ...override } = entry;
  return { ...override, setAt: isoOf(since), until: isoOf(until) };
}
