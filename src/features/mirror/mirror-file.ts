import { readKeyedState, writeKeyedState } from '../../lib/keyed-state-file.ts';
import { type MirrorTotals, noTotals, totalsFrom, totalsJson } from './mirror-totals.ts';

/** What is stored so that it survives restarts. */
export interface StoredMirror {
  /** The key with which a gateway alone makes numbers that stand for callers. */
  readonly key: Buffer;
  readonly totals: MirrorTotals;
}

/**
 * Reads what is stored. If there is no file, returns empty totals with a new key. Throws an error that describes the
 * problem if the file is invalid.
 */
export function readMirrorFile(file: string): StoredMirror {
  const { key, state } = readKeyedState(file);
  return { key, totals: state === undefined ? noTotals('', 0) : totalsFrom(state['totals'], 'totals') };
}

/** Replaces the file. */
export const writeMirrorFile = (file: string, { key, totals }: StoredMirror): Promise<void> =>
  writeKeyedState(file, key, { totals: totalsJson(totals) });
